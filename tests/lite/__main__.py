"""`python -m tests.lite --pyodide FOLDER --wheels FOLDER`: every record's results in Pyodide, against this Python's.

FOLDER of Pyodide: that of the npm package. FOLDER of wheels: numpy and ml_dtypes for that Pyodide and what vistorch and
the records import, pure wheels of pytest among it; nothing is fetched. Without them, `--pretend` takes a CPython that
lacks the same things. Invariant: it ends with 1 where anything differs.
"""

from __future__ import annotations

import argparse
import pickle
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from .results import differences, results

ROOT = Path(__file__).resolve().parents[2]
PRETEND = (
    "import runpy; from tests.lite.like_a_browser import pretend; pretend(); "
    "runpy.run_module('tests.lite.results', run_name='__main__')"
)


def main(given: list[str] | None = None) -> int:
    """Run the records there and here; print what differs."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.lite", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--pyodide", type=Path, help="the folder of the npm package pyodide")
    parser.add_argument("--wheels", type=Path, help="a folder of wheels for that Pyodide")
    parser.add_argument("--pretend", action="store_true", help="take a CPython that lacks the same things")
    asked = parser.parse_args(given)
    if not asked.pretend and not (asked.pyodide and asked.wheels):
        parser.error("say where --pyodide and --wheels lie, or --pretend")
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        found = Path(folder, "found")
        subprocess.run(
            [sys.executable, "-c", PRETEND, str(found)]
            if asked.pretend
            else _node(asked, Path(folder), found),
            cwd=ROOT,
            check=True,
        )
        mine, right = pickle.loads(found.read_bytes()), results()
    wrong = differences(mine, right)
    print(*wrong[:50], f"{len(wrong)} of {len(right)} calls differ", sep="\n")
    return 1 if wrong else 0


def _node(asked: argparse.Namespace, folder: Path, found: Path) -> list[str]:
    """Return the command that runs the records under node, the wheels unpacked beside the result."""
    site = folder / "site"
    for wheel in sorted(asked.wheels.glob("*.whl")):
        with zipfile.ZipFile(wheel) as file:
            file.extractall(site)
    program = str(ROOT / "tests" / "lite" / "node.mjs")
    inside = found.relative_to(ROOT).as_posix()
    return ["node", program, str(asked.pyodide), str(site), str(ROOT), "tests.lite.results", inside]


if __name__ == "__main__":
    (ROOT / "build").mkdir(exist_ok=True)
    sys.exit(main())
