"""Run the notebooks and store what they say: `python -m tests.tutorials.renew`, after a change of texts or pages.

Look at the difference before it is committed: what the tests compare with is made here.
"""

import os
import sys
from pathlib import Path

import nbformat
from nbconvert.preprocessors import ExecutePreprocessor

ROOT = Path(__file__).parents[2]
NOTEBOOKS = ROOT / "notebooks"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
LIVE = "application/vnd.jupyter.widget-view+json"  # a view without its kernel: a reader would see an error


def renew(path):
    """Run one notebook from top to bottom, and keep neither times nor versions nor live views."""
    made = nbformat.read(path, 4)
    run = ExecutePreprocessor(timeout=600, kernel_name="python3")
    made, _ = run.preprocess(made, {"metadata": {"path": str(path.parent)}})
    made.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    for cell in made.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(LIVE, None)
    nbformat.write(made, path)


def main(names):
    """Renew the notebooks of these names, or all."""
    os.environ["PYTHONPATH"] = str(ROOT)
    found = [p for p in sorted(NOTEBOOKS.glob("*.ipynb")) if not names or p.stem in names]
    for path in found:
        renew(path)
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
    return 0 if found else f"no notebook is called {' or '.join(names)}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
