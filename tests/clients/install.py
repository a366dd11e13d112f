"""Puts the pinned libraries into a folder of their own, which only the programs see.

Invariant: the environment that runs this is left as it is.
"""

import hashlib
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PINNED = HERE / "pinned.txt"
FOLDER = HERE.parents[1] / "build" / "clients"


def versions(text: str | None = None) -> dict[str, str]:
    """Each library's version, by name."""
    lines = (PINNED.read_text("utf-8") if text is None else text).splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {name.strip(): version.strip() for name, version in pairs}


def install(folder: Path = FOLDER) -> str:
    """See to it that the libraries are there; a sentence where they cannot be had, otherwise nothing.

    Args:
        folder: where to put them; made anew when `pinned.txt` or the interpreter changes.
    """
    wanted = hashlib.sha256(PINNED.read_bytes() + sys.version.encode()).hexdigest()
    mark = folder / ".installed"
    if mark.exists() and mark.read_text() == wanted:
        return ""
    # For all of them: some ask for a torch, and pip would bring one.
    words = ["install", "--quiet", "--no-deps", "--upgrade", "--target", str(folder), "-r", str(PINNED)]
    done = subprocess.run([sys.executable, "-m", "pip", *words], capture_output=True, text=True)
    if done.returncode == 0:
        mark.write_text(wanted)
        return ""
    wrong = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["pip failed."]
    return f"The libraries of tests/clients/pinned.txt could not be installed: {wrong[0].removeprefix('ERROR: ')}"
