"""The command line: one command = parse, one library call, print, exit code.

Only typer is imported here; every command imports what it needs when it runs, so that ``--help`` answers at once.
"""

import sys

from chebnet2d.cli.app import app

_INTERRUPTED = 130
_GOES_ON = {
    "study run": "Finished runs are in the store, and the same command goes on from them.",
    "precompute": "The same command goes on from what is done.",
}


def main() -> None:
    """Entry point. A wrong input ends with one sentence on stderr and exit code 2, never with a traceback."""
    from chebnet2d._checks import InputError
    from chebnet2d.cli.flags import command_of, in_flags

    typed = sys.argv[1:]
    try:
        app()
    except InputError as error:
        print(f"chebnet2d: {in_flags(str(error), typed)}", file=sys.stderr)
        sys.exit(2)
    except (KeyboardInterrupt, SystemExit) as end:
        if isinstance(end, SystemExit) and end.code != _INTERRUPTED:  # typer turns Ctrl-C into this code
            raise
        print(f"chebnet2d: interrupted. {_GOES_ON.get(command_of(typed), '')}".rstrip(), file=sys.stderr)
        sys.exit(_INTERRUPTED)


__all__ = ["app", "main"]
