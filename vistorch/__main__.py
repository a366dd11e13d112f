"""`python -m vistorch` is the command `vistorch`."""

import sys

from vistorch.cli import main  # pyright: ignore[reportMissingImports]  (vt/cli/, without the rest of vt)

if __name__ == "__main__":
    sys.exit(main())
