"""data fetch: a dataset from where its authors keep it."""

from chebnet2d.cli import options
from chebnet2d.cli.command import command


@command("data fetch", order=120, resumes="The same command continues the download.")
def fetch(
    name: options.DatasetName,
    force: options.Force = False,
    json: options.Json = False,
    data_root: options.DataRoot = None,
) -> None:
    """Download a dataset, count what arrived, and put it in its place. Run it again after a broken connection: it continues.

    Example: chebnet2d data fetch roman-empire --data-root ~/graphs
    """
    from chebnet2d import data
    from chebnet2d.cli.console import print_json, say
    from chebnet2d.cli.progress import download_step, progress_bar

    with progress_bar(download_step, "DownloadColumn", "TransferSpeedColumn", quiet=json) as report:
        folder = data.fetch(name, data_root, report, force=force)
    found = data.find_entry(name, "fetch").name
    say(f"{found}: in {folder}, counts as in the catalogue", quiet=json)
    if json:
        print_json({"dataset": found, "folder": str(folder), "ok": True})
