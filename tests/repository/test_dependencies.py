"""What vistorch imports is what its package asks for: an environment made from pyproject.toml alone runs all of it."""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# An import's name is not always its distribution's.
DISTRIBUTION = {"PIL": "pillow", "IPython": "ipython"}
# Asked for by the machine's CUDA version, or used only where a person has installed them; each import says so itself.
OPTIONAL = {"cupy", "cupyx", "cupy_backends", "nbformat", "tensorboard", "pandas", "mpi4py"}


def imported(folder):
    """Every distribution that the sources in `folder` import at any depth, with one file that does."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                names = [node.module]
            for name in {name.partition(".")[0] for name in names}:
                if name not in sys.stdlib_module_names and name not in {"vistorch", *OPTIONAL}:
                    found.setdefault(DISTRIBUTION.get(name, name), path.name)
    return found


def declared(text):
    """The names in the list `dependencies` of a pyproject.toml."""
    block = re.search(r"^dependencies = \[\n(.*?)^\]", text, re.S | re.M)
    assert block
    return set(re.findall(r'^    "([A-Za-z0-9_-]+)', block[1], re.M))


def test_what_is_imported_is_declared():
    wanted = imported(ROOT / "vistorch")
    missing = {
        name: file
        for name, file in wanted.items()
        if name not in declared((ROOT / "pyproject.toml").read_text())
    }
    assert not missing
    assert {"numpy", "cloudpickle", "pillow", "tqdm"} <= set(wanted)


def test_an_import_that_is_not_declared_is_found(tmp_path):
    (tmp_path / "one.py").write_text(
        "def f():\n    from somewhere.else_ import thing\n    import PIL.Image\n"
    )
    assert imported(tmp_path) == {"somewhere": "one.py", "pillow": "one.py"}
    assert declared('dependencies = [\n    "numpy>=2",\n]\n') == {"numpy"}
