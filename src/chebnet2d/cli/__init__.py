"""The command line. A command is a module in ``commands/``: parse, one library call, print."""

from chebnet2d.cli.app import app
from chebnet2d.cli.signals import answering_signals


def main() -> None:
    """Entry point. A wrong input ends with one sentence on stderr and exit code 2, never with a traceback."""
    with answering_signals():
        app()


__all__ = ["app", "main"]
