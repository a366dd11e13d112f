"""Starting Python for a test: PyTorch's own, or a program on vistorch."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def python(*words, cwd=None, env=(), **options):
    """Run Python; vistorch is found, and one thread is used."""
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **dict(env)}
    return subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=cwd,
        env=variables,
        capture_output=True,
        text=True,
        timeout=240,
        **options,
    )


def vistorch(*words, **options):
    """The command `vistorch`."""
    return python("-m", "vistorch", *words, **options)
