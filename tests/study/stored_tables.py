"""The table of a store, and a study as another process runs it."""

import torch

from chebnet2d.reports import format_table, make_table
from chebnet2d.study import Protocol, Store, run_study


def table_of(path):
    with Store(path) as store:
        return format_table(make_table(store.rows()), "json")


def study_in_child(protocol, path):
    torch.set_num_threads(1)
    run_study(Protocol.from_json(protocol), path)
