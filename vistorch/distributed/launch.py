"""PyTorch's older name of `distributed.run`: `python -m vistorch.distributed.launch`.

Invariant: it does what `distributed.run` does; `--use-env` is accepted, and is what happens.
"""

from __future__ import annotations

import sys

from .run import main as run_main

__all__ = ["main"]


def main(args: list[str] | None = None) -> int:
    """Do what a command line says.

    Args:
        args: the words; those of this process if not given.

    Example:
        >>> from vistorch.distributed.launch import main
        >>> main(["--use-env", "--no-python", "true"])
        0
    """
    words = sys.argv[1:] if args is None else args
    return run_main([word for word in words if word not in ("--use-env", "--use_env")])


if __name__ == "__main__":
    sys.exit(main())
