"""Type checkers find the modules that only a finder knows, with the names that are there when a program runs."""

import importlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from docs.making import type_stubs

ROOT = Path(__file__).parents[2]


def modules():
    """The modules that have a stub, by their names."""
    for path in sorted(type_stubs.files()):
        if path.suffix == ".pyi":
            parts = path.relative_to(type_stubs.FOLDER).with_suffix("").parts
            yield ".".join(["vistorch", *(parts[:-1] if parts[-1] == "__init__" else parts)])


def offered(name):
    """The public names of a module when it has run."""
    return type_stubs.offered(importlib.import_module(name))


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """`checked(program)`: the errors that pyright finds in it."""
    pyright = shutil.which("pyright", path=str(Path(sys.executable).parent)) or shutil.which("pyright")
    if pyright is None:
        pytest.skip("pyright is not installed")
    folder = tmp_path_factory.mktemp("typed")
    settings = {"extraPaths": [str(ROOT)], "reportMissingModuleSource": "none"}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))

    def run(program):
        (folder / "program.py").write_text(program)
        command = [pyright, "--outputjson", "--pythonpath", sys.executable, "-p", str(folder)]
        found = json.loads(subprocess.run(command, capture_output=True, text=True, cwd=folder).stdout)
        return [
            (one["range"]["start"]["line"] + 1, one["message"])
            for one in found["generalDiagnostics"]
            if one["severity"] == "error"
        ]

    return run


def test_every_module_and_name_is_found(checked):
    names = {name: offered(name) for name in modules()}
    assert len(names) > 50 and sum(map(len, names.values())) > 300
    lines = [f"import {name}" for name in names]
    lines += [f"from {name} import {one} as _" for name, ones in names.items() for one in ones]
    lines += ["import vistorch.nn", "vistorch.nn.Linear(2, 1)", "vistorch.jit.script(print)"]
    lines += ["from vistorch import vt", "vt.show", "vt.COMMANDS"]
    wrong = [f"{lines[number - 1]}: {message}" for number, message in checked("\n".join(lines))]
    assert wrong == []


def test_a_name_that_is_not_there_is_an_error(checked):
    lines = [
        "import vistorch.jit",
        "import vistorch.jti",
        "vistorch.jit.scirpt",
        "import vistorch.nn",
        "vistorch.nn.Linaer",
    ]
    assert [number for number, _ in checked("\n".join(lines))] == [2, 3, 5]
