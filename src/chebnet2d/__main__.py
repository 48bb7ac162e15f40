"""``python -m chebnet2d``."""

from chebnet2d.cli import main

if __name__ == "__main__":
    main()
