"""Modules imported when they are first asked for: wherever their files are, each is one module under one name."""

import importlib
import importlib.util
import inspect
import pickle
import pkgutil
import pydoc
import sys
from pathlib import Path

import pytest

import vistorch
from tests.compat.run import python
from vistorch import _lazy
from vistorch.torch_api import unbuilt

ROOT = Path(__file__).parents[2]
# Every module whose name does not say where its file is.
MOVED = [*_lazy.ELSEWHERE, *unbuilt.MODULES]
PUBLIC = sorted({*MOVED, *_lazy.MODULES})
# Below packages that have moved.
BELOW = [
    "backends.cudnn",
    "backends.cuda",
    "cpu.amp",
    "compat.import_torch",
    "testing.close",
    "tutorials.copies",
]
# What a program prints that is run with a list of names, if all is well.
WELL = "well"


def said(program):
    """What a program prints that has a list of the names."""
    done = python("-W", "error", "-c", f"names = {[*PUBLIC, *BELOW]!r}\n{program}\nprint({WELL!r})")
    return done.stdout.strip() + done.stderr.strip()


FORMS = {
    "import": """
import sys
for name in names:
    exec(f"import vistorch.{name}")
    module = sys.modules[f"vistorch.{name}"]
    assert eval(f"vistorch.{name}") is module and module.__name__ == f"vistorch.{name}", name
""",
    "import as": """
import sys
for name in names:
    exec(f"import vistorch.{name} as module")
    assert module is sys.modules[f"vistorch.{name}"], name
""",
    "from": """
import sys
for name in names:
    parent, _, last = f"vistorch.{name}".rpartition(".")
    exec(f"from {parent} import {last} as module")
    assert module is sys.modules[f"vistorch.{name}"], name
""",
    "attribute": """
import sys, vistorch
for name in names:
    if name in dir(vistorch):
        assert getattr(vistorch, name) is sys.modules[f"vistorch.{name}"], name
""",
    "find_spec": """
import importlib.util, sys
for name in names:
    spec = importlib.util.find_spec(f"vistorch.{name}")
    fresh = "." in name or spec.name not in sys.modules or name == "utils"
    assert spec.name == f"vistorch.{name}" and fresh, name
assert importlib.util.find_spec("vistorch.wobble") is None
""",
    "the folder's name first": """
import importlib
from vistorch import _lazy
for name in names:
    first, _, rest = name.partition(".")
    if first in _lazy.ELSEWHERE:
        by_folder = importlib.import_module(f"vistorch.{_lazy.ELSEWHERE[first]}.{name}")
        assert by_folder is importlib.import_module(f"vistorch.{name}"), name
        assert by_folder.__name__ == by_folder.__spec__.name == f"vistorch.{name}", name
import vistorch.cli.tutorials, vistorch.tutorials
assert vistorch.cli.tutorials is vistorch.tutorials
""",
    "torch": """
import importlib
import vistorch.compat
vistorch.compat.alias_torch()
for name in names:
    assert importlib.import_module(f"torch.{name}") is importlib.import_module(f"vistorch.{name}"), name
""",
    "pickle": """
import importlib, inspect, pickle
for name in names:
    module = importlib.import_module(f"vistorch.{name}")
    for key, value in vars(module).items():
        if (inspect.isclass(value) or inspect.isfunction(value)) and value.__module__ == module.__name__:
            if value.__qualname__ == key and "<locals>" not in value.__qualname__:
                assert pickle.loads(pickle.dumps(value)) is value, (name, key)
""",
    "reload": """
import importlib
for name in names:
    if name in ("vt", "nn", "optim", "utils", "amp", "distributions", "serialization", "vision", "multiprocessing"):
        continue  # ordinary packages, whose classes others hold
    module = importlib.import_module(f"vistorch.{name}")
    before = set(vars(module))
    assert importlib.reload(module) is module and module.__name__ == f"vistorch.{name}", name
    assert before <= set(vars(module)), name
""",
    "one file is one module": """
import importlib, os, pathlib, sys, vistorch
home = pathlib.Path(vistorch.__file__).parent
for path in sorted(home.joinpath("torch_api").rglob("*.py")) + sorted(home.joinpath("vt", "cli").rglob("*.py")):
    if path.stem != "sitecustomize":
        parts = path.relative_to(home.parent).with_suffix("").parts
        importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
for name in names:
    importlib.import_module(f"vistorch.{name}")
files = {}
for name, module in list(sys.modules.items()):
    if name.startswith("vistorch.") and getattr(module, "__file__", None):
        assert files.setdefault(module.__file__, module) is module, (name, files[module.__file__])
""",
    "nothing is loaded before": """
import sys, vistorch
assert [name for name in sys.modules if ".torch_api" in name or ".cli" in name] == []
assert not hasattr(vistorch, "__wobble__") and "vistorch.torch_api.unbuilt" not in sys.modules
assert vistorch.jit.is_scripting() is False and "vistorch.torch_api.unbuilt" in sys.modules
""",
}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_of_import_finds_the_module(form):
    assert said(FORMS[form]) == WELL


def test_the_lists_name_each_module_once():
    assert len(set(MOVED)) == len(MOVED) and not {*unbuilt.MODULES} & {*_lazy.MODULES}
    tops = {name for name in unbuilt.MODULES if "." not in name}
    assert {*_lazy.MODULES, *_lazy.NAMES, *tops, "spmm"} <= set(dir(vistorch))


def test_every_file_of_the_folder_has_a_public_name_and_no_row_is_stale():
    files = {path.stem for path in (ROOT / "vistorch/torch_api").iterdir() if path.name != "__pycache__"}
    rows = {name for name, folder in _lazy.ELSEWHERE.items() if folder == "torch_api"}
    assert files - {"__init__", "private_names", "rare_names", "unbuilt"} == rows


def test_pkgutil_and_pydoc_list_them():
    listed = {one.name: one.ispkg for one in pkgutil.iter_modules(vistorch.__path__)}
    assert {name for name in PUBLIC if "." not in name} <= set(listed)
    assert listed["backends"] and listed["ao"] and listed["jit"] and not listed["mps"]
    assert "vistorch.mps" in {one.name for one in pkgutil.iter_modules(vistorch.__path__, "vistorch.")}


@pytest.mark.parametrize("name", [*MOVED, *BELOW])
def test_help_knows_the_module(name):
    page = pydoc.plain(pydoc.render_doc(f"vistorch.{name}"))
    assert f"module vistorch.{name}" in page or f"package vistorch.{name}" in page
    assert (importlib.import_module(f"vistorch.{name}").__doc__ or "").splitlines()[0] in page


def test_what_is_in_a_moved_module_says_so():
    assert vistorch.jit.script.__module__ == "vistorch.jit"
    assert repr(vistorch.mps.Event) == "<class 'vistorch.mps.Event'>"
    assert inspect.getsourcefile(vistorch.jit.script).endswith(
        "torch_api/jit/__init__.py".replace("/", __import__("os").sep)
    )
    assert pickle.dumps(vistorch.jit.Error).find(b"vistorch.jit") > 0
    assert sys.modules["vistorch.backends.cudnn"] is vistorch.backends.cudnn


def test_a_former_name_leads_to_the_module():
    assert importlib.import_module("vistorch.compat.alias") is vistorch.compat.import_torch


def test_what_is_not_there_is_not_found():
    for name in ("wobble", "jit.wobble", "mps.wobble", "torch_api.wobble", "ao.wobble", "vt.cli.wobble"):
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(f"vistorch.{name}")
        assert not hasattr(vistorch, name)


def test_a_finder_that_is_away_is_missed():
    """The checks above can fail: without the finders, the modules are not found."""
    program = "import sys, vistorch\nsys.meta_path[:] = sys.meta_path[1:-1]\nimport vistorch.jit"
    assert "No module named 'vistorch.jit'" in python("-c", program).stderr
