"""The command line: one command = parse, one library call, print, exit code.

Only typer is imported here; every command imports what it needs when it runs, so that ``--help`` answers at once.
"""

import sys

from chebnet2d.cli.app import app


def main() -> None:
    """Entry point. A wrong input ends with one sentence on stderr and exit code 2, never with a traceback."""
    from chebnet2d._checks import InputError

    try:
        app()
    except InputError as error:
        print(f"chebnet2d: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("chebnet2d: interrupted", file=sys.stderr)
        sys.exit(130)


__all__ = ["app", "main"]
