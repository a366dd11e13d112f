"""The frame of the repository: an engine that knows nobody above it, no import cycle, nothing heavy or local."""

import ast
import base64
import binascii
import os
import re
import subprocess
import sys
import zlib
from functools import cache
from pathlib import Path

import pytest

from benchmarks.imports import HEAVY

ROOT = Path(__file__).parents[2]

# What a file of the engine may import of this package, at any depth of its code.
ENGINE_MAY_IMPORT = ("vistorch.engine", "vistorch._version")
# And not of others: whatever draws, shows or talks to a notebook, and the library we are tested by.
ENGINE_MAY_NOT_IMPORT = {
    "IPython",
    "anywidget",
    "ipykernel",
    "ipywidgets",
    "jupyter_client",
    "matplotlib",
    "torch",
    "traitlets",
}

# The patterns are put together here so that this file does not match itself.
LOCAL = re.compile(
    "|".join(
        [
            r"(?<![\w./~-])/(?:home|root|work|opt|tmp|mnt|Users)" + r"/[\w.]",
            r"[A-Za-z]:\\+" + r"Users\\",
            r"file:" + r"//",
            r"--(?:extra-)?index" + r"-url",
            r"--find" + r"-links",
            r"\b(?:test\.)?pypi" + r"\.(?:org|python\.org)",
            r"pythonhosted" + r"\.org",
            r"registry\.(?:npmjs|yarnpkg)" + r"\.",
            r"download\.pytorch" + r"\.org",
            r"conda\.anaconda" + r"\.org",
            r"\b(?:10|192\.168|172\.(?:1[6-9]|2\d|3[01]))(?:\.\d{1,3}){2,3}:" + r"\d+",
        ]
    )
)


def tracked_files():
    """List the files git knows or would add; without git, all that are not hidden or built."""
    if (ROOT / ".git").exists():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        paths = [ROOT / name for name in names.split("\0") if name]
    else:
        paths = [
            path for path in ROOT.rglob("*") if ".venv" not in path.parts and "__pycache__" not in path.parts
        ]
    return [path for path in paths if path.is_file()]


def imported_by(source, module, is_package=False):
    """Name every module that this source imports anywhere, relative imports resolved."""
    package = module.split(".") if is_package else module.split(".")[:-1]
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            # `from package import module` names the module only together with what it imports.
            found.update(f"{base}.{alias.name}" for alias in node.names)
    return found


def module_of(path, root=ROOT):
    """The dotted name of a file."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def import_graph(paths, root=ROOT):
    """Which modules of a package each module imports, at any depth of its code, for type checkers too."""
    files = {module_of(path, root): path for path in paths}
    edges = {}
    for module, path in files.items():
        names = imported_by(path.read_text(encoding="utf-8"), module, path.name == "__init__.py")
        found = {name if name in files else name.rpartition(".")[0] for name in names}
        # a module's own packages are imported before it in any case
        edges[module] = {n for n in found if n in files and not f"{module}.".startswith(f"{n}.")}
    return edges


def folded(edges, package):
    """The same between the files and the folders that lie in a package."""
    start = f"{package}."

    def inside(module):
        return start + module[len(start) :].split(".")[0] if module.startswith(start) else None

    found = {}
    for module, targets in edges.items():
        if (here := inside(module)) is not None:
            found.setdefault(here, set()).update(inside(t) for t in targets)
    return {here: targets - {here, None} for here, targets in found.items()}


def cycles(edges):
    """Groups of modules that import each other in a circle."""
    reach = {}
    for start in edges:
        seen, stack = set(), [start]
        while stack:
            for name in edges[stack.pop()] - seen:
                seen.add(name)
                stack.append(name)
        reach[start] = seen
    knots = {frozenset(b for b in reach[a] if a in reach[b]) for a in edges if a in reach[a]}
    return sorted(sorted(knot) for knot in knots)


def wrong_for_engine(names):
    """Pick the imports that the engine must not make."""

    def wrong(name):
        if name.split(".")[0] == "vistorch":
            return not any(name == allowed or name.startswith(allowed + ".") for allowed in ENGINE_MAY_IMPORT)
        return name.split(".")[0] in ENGINE_MAY_NOT_IMPORT

    return sorted(filter(wrong, names))


def local_texts(text):
    """Find what belongs to one machine or one registry."""
    return [match.group() for match in LOCAL.finditer(text)]


def packed_in(text):
    """Yield what pages and pictures carry: base64, deflated or not."""
    for run in re.findall(r"[A-Za-z0-9+/]{200,}", text):
        try:
            raw = base64.b64decode(run + "=" * (-len(run) % 4))
        except binascii.Error:
            continue
        yield raw.decode("latin-1")
        try:
            yield zlib.decompressobj(-zlib.MAX_WBITS).decompress(raw).decode("latin-1")
        except zlib.error:
            continue


def package_files(below="vistorch"):
    return sorted((ROOT / below).rglob("*.py"))


@cache
def package_graph():
    return import_graph(package_files())


def test_no_files_import_each_other_in_a_circle():
    assert len(package_graph()) > 800
    assert cycles(package_graph()) == []


def test_no_folders_import_each_other_in_a_circle():
    folders = [module_of(path) for path in package_files() if path.name == "__init__.py"]
    assert len(folders) > 60
    assert [knot for folder in folders for knot in cycles(folded(package_graph(), folder))] == []


def test_a_circle_is_found_wherever_it_hides(tmp_path):
    pack = tmp_path / "pack"
    for path, text in {
        "__init__.py": "",
        "a.py": "from .b import g\n",
        "b.py": "def g():\n    from . import a\n",
        "c.py": "from typing import TYPE_CHECKING\nfrom . import a\nif TYPE_CHECKING:\n    from .d import D\n",
        "d.py": "import pack.c\n",
        "low/__init__.py": "",
        "low/e.py": "from ..high import g\n",
        "high/__init__.py": "from . import g\n",
        "high/f.py": "from ..low import e\n",
        "high/g.py": "from .. import pack\n",
    }.items():
        (pack / path).parent.mkdir(exist_ok=True, parents=True)
        (pack / path).write_text(text)
    edges = import_graph(pack.rglob("*.py"), tmp_path)
    assert cycles(edges) == [["pack.a", "pack.b"], ["pack.c", "pack.d"]]
    assert cycles(folded(edges, "pack"))[-1] == ["pack.high", "pack.low"]
    assert cycles(folded(edges, "pack.high")) == []


@pytest.mark.parametrize("path", package_files("vistorch/engine"), ids=lambda p: str(p.relative_to(ROOT)))
def test_engine_knows_nobody_above_it(path):
    names = imported_by(path.read_text(encoding="utf-8"), module_of(path), path.name == "__init__.py")
    assert wrong_for_engine(names) == []


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ("import IPython.display", ["IPython.display"]),
        ("from ipywidgets import Widget", ["ipywidgets.Widget"]),
        ("def f():\n    from matplotlib import pyplot", ["matplotlib.pyplot"]),
        ("from vistorch import nn", ["vistorch.nn"]),
        ("from vistorch.nn import Module", ["vistorch.nn.Module"]),
        ("import vistorch", ["vistorch"]),
        ("from .. import nn", ["vistorch.nn"]),
        ("from ..nn.parameter import Parameter", ["vistorch.nn.parameter.Parameter"]),
        ("from . import graph", []),
        ("from .ops import shape", []),
        ("from vistorch.engine.core import graph", []),
        ("from .._version import __version__", []),
        ("import numpy as np\nimport ml_dtypes", []),
    ],
)
def test_imports_are_judged(source, wrong):
    assert wrong_for_engine(imported_by(source, "vistorch.engine.file")) == wrong


def test_relative_imports_of_a_package_start_at_itself():
    assert imported_by("from . import shape", "vistorch.engine.ops", True) == {"vistorch.engine.ops.shape"}
    assert imported_by("from ..file import Node", "vistorch.engine.ops", True) == {
        "vistorch.engine.file.Node"
    }


def test_nothing_local_is_tracked():
    found = {}
    for path in tracked_files():
        try:
            texts = local_texts(path.read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            continue  # a picture or an archive
        if texts:
            found[str(path.relative_to(ROOT))] = texts
    assert found == {}


def test_nothing_local_is_in_the_pages_of_notebooks():
    pages = 0
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        for text in packed_in(path.read_text(encoding="utf-8")):
            pages += text.startswith("VT1")  # a record, unpacked
            assert re.findall(r"[^<>\"]{0,40}/(?:tm" + r"p|root|home|work)/[\w.]+", text) == [], path.name
    assert pages > 10


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see /ho" + "me/someone/x", True),
        ('"/ro' + 'ot/.cache/x"', True),
        ("cd /tm" + "p/build", True),
        ("pip install --index" + "-url x", True),
        ("https://py" + "pi.org/project/x", True),
        ("https://download.py" + "torch.org/whl", True),
        ("http://10.0" + ".0.1:3141/", True),
        ("#!/usr/bin/env bash", False),
        ("https://docs.python.org/3/", False),
        ("tests/ops/samples.py and a/work/b", False),
        ("version 10.2.1", False),
    ],
)
def test_local_texts_are_recognised(text, found):
    assert bool(local_texts(text)) is found


def test_version_is_written_once():
    version = re.search(r'"(.+)"', (ROOT / "vistorch" / "_version.py").read_text(encoding="utf-8")).group(1)
    paths = [path for path in tracked_files() if path.suffix in {".py", ".toml", ".cfg", ".json"}]
    assert [p.name for p in paths if version in p.read_text(encoding="utf-8")] == ["_version.py"]


def test_import_brings_nothing_heavy():
    program = f"import sys, vistorch; print([name for name in {HEAVY!r} if name in sys.modules])"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "error", "-c", program]
    reply = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    assert reply.stdout.strip() == "[]"
    assert "torch" in HEAVY and "IPython" in HEAVY
