"""How pages are made short enough for a test, and what of them is not run at all. Nothing else is changed.

Every rule is used by some page: a test fails where one is not.
"""

import re

FLAGS = {  # added at the end of a command, where the last value counts
    r"chebnet2d train ": "--epochs 3",
    r"chebnet2d train-bases ": "--epochs 2 --hidden 16",
    r"chebnet2d report \S*model": "--mistakes 1",
    r"chebnet2d auto ": "--budget 3",
    r"chebnet2d search ": "--budget 2 --epochs 4 --patience 4 --splits 1",
    r"chebnet2d study run --": "--splits 2 --inits 1 --epochs 2 --patience 2 --workers 1",
    r"chebnet2d study run .*--workers": "--workers 1",
    r"chebnet2d data generate ": "--scale 0.01",
}
TEXTS = {  # of commands
    "torchrun --nproc-per-node 2 -m chebnet2d": "chebnet2d",  # one process; make test-cluster starts several
    " --ray 127.0.0.1:6399": "",  # tests/cluster/test_session.py has the whole page on a cluster
    " --ray auto": "",  # make test-cluster has a cluster
}
CODE = {  # of blocks of Python and TOML
    "seed=0)\n\nresult.test": "seed=0, epochs=20)\n\nresult.test",
    "settings=Settings.of(lr=0.01)": "settings=Settings.of(lr=0.01, epochs=5)",
    'budget="30s"': "budget=2, epochs=5, patience=5",
    'budget="10m"': "budget=3",
    '("cora", "texas"), inits=1': '("texas",), inits=1, splits=2, epochs=5',
    "ProcessExecutor(2)": "ProcessExecutor(1)",
    "seed=0), seed=0)": "seed=0), seed=0, epochs=5)",
    "splits = 10\ninits = 10\nepochs = 2000\npatience = 200": "splits = 2\ninits = 1\nepochs = 2\npatience = 2",
    "splits = 3\ninits = 2\nepochs = 60\npatience = 20": "splits = 1\ninits = 1\nepochs = 6\npatience = 6",
    "trials = 6 ": "trials = 2 ",
    "rungs = [20]": "rungs = [2]",
    "texas = { epochs = 500, patience = 100, splits = 5 }": "texas = { epochs = 2, patience = 2, splits = 1 }",
    "splits = 10\ninits = 5\nepochs = 1000\npatience = 100": "splits = 2\ninits = 1\nepochs = 2\npatience = 2",
    "trials = 24\nsplits = [100, 101, 102]": "trials = 2\nsplits = [100]",
}
NOT_RUN = {  # the first pattern that is found in a command says why; its words are looked at all the same
    r"^make (?!demo)": "tools of this repository: that the target exists is tested",
    r"^python ": "measures on a quiet machine: that the file has these flags is tested",
    r"^(pip |\.venv/)": "changes an environment: that the extra exists is tested",
    r"[A-Z]{4,}|\b(DIR|ID|PATH)\b|[a-z]\|[a-z]": "words stand for what the reader has",
    r"^chebnet2d (auto|explain|precompute|predict|search|data check|data describe)$": "the name of a command",
    r"data fetch": "needs the network; tests/data has a server of its own",
    r"results/\S+\.toml|cell\.toml|study export .*results/": "hours of training; docs/study.md has them at a small size",
    r"study run --table 4": "graphs of millions of edges; tests/study has it at a small size",
}
SLOW = r"chebnet2d theory"  # half a minute: run by make test-slow alone
ELSEWHERE = {  # said on several pages, run on one
    "make demo": "README.md",
    "chebnet2d report my-predictor my-graph/ --out report.html": "README.md",
    "chebnet2d models": "docs/methods.md",
    "chebnet2d theory": "docs/theory.md",
    "chebnet2d theory --plot docs/theory": "docs/reproduction.md",
    "chebnet2d study run --methods chebnet2d --datasets cora": "docs/speed.md",
}


def shortened(command: str) -> str:
    for long, short in TEXTS.items():
        command = command.replace(long, short)
    return " ".join([command, *(flags for pattern, flags in FLAGS.items() if re.match(pattern, command))])


def shortened_code(code: str) -> str:
    for long, short in CODE.items():
        code = code.replace(long, short)
    return code


def slow(command: str) -> bool:
    return re.search(SLOW, command) is not None


def reason(command: str) -> str | None:
    return next((words for pattern, words in NOT_RUN.items() if re.search(pattern, command)), None)
