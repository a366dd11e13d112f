"""What the package imports is what `pip install` brings, or what the code can do without."""

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# The name of a distribution where it is not that of the module.
CALLED = {"PIL": "pillow", "cupyx": "cupy"}
# Asked for inside a function that says what to do without it.
OPTIONAL = {"cupy", "tensorboard", "threadpoolctl"}


def imported(source):
    """The packages of others that a source imports, at any depth."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(node.module)
    tops = {name.partition(".")[0] for name in names}
    return {CALLED.get(top, top) for top in tops - set(sys.stdlib_module_names) - {"vistorch"}}


def declared(text):
    """The distributions that pyproject.toml's `dependencies` name."""
    block = re.search(r"^dependencies = \[(.*?)^\]", text, re.S | re.M)
    return set(re.findall(r'^\s*"([\w.-]+)', block[1], re.M))


def test_imports_are_declared():
    known = declared((ROOT / "pyproject.toml").read_text(encoding="utf-8")) | OPTIONAL
    paths = sorted((ROOT / "vistorch").rglob("*.py"))
    assert paths
    unknown = {
        str(path.relative_to(ROOT)): names
        for path in paths
        if (names := imported(path.read_text(encoding="utf-8")) - known)
    }
    assert unknown == {}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import numpy as np, os.path", {"numpy"}),
        ("def f():\n    from PIL.Image import open", {"pillow"}),
        ("from . import numpy\nfrom vistorch import nn", set()),
    ],
)
def test_imports_are_seen(source, names):
    assert imported(source) == names


def test_dependencies_are_read():
    assert declared('x = 1\ndependencies = [\n    "a-b>=2",\n    "c",\n]\n[x]\ny = [\n    "d",\n]\n') == {
        "a-b",
        "c",
    }
