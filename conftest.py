"""What the examples in docstrings may rely on: Python's own names.

`vistorch` has functions and types of its own under some of them (`float`, `sum`), and doctest runs the examples of
public functions with the names of that module.
"""

import builtins
import gc
import importlib
import sys

import pytest

from tests import draws, leftovers

ENDS = (
    ("vistorch.debug.graph.graph_listeners", "stop"),
    ("vistorch.torch_source.listening", "stop"),
    ("vistorch.debug.updates", "forget"),
    ("vistorch.overrides", "forget"),
)


def pytest_configure(config):
    """Import by name what is more than its file: pytest would run the files of the examples as they are."""
    if config.getoption("doctestmodules", False):
        lazy = importlib.import_module("vistorch._lazy")
        for name in (*lazy.COMPLETED, *lazy.ASKED):
            importlib.import_module(f"vistorch.{name}")


def pytest_ignore_collect(collection_path):
    """Import PyTorch before the modules that look at it: these never import it themselves, and have nothing without."""
    if collection_path.parent.parts[-2:] != ("vistorch", "torch_source"):
        return None
    try:
        import torch  # noqa: F401
    except ImportError:
        return True
    return None


def pytest_collection_finish():
    """Let the garbage collector pass over what was imported and collected: it is there to the end.

    Otherwise each `gc.collect()` of a test, and each of an IPython shell that ends, looks at all of it.
    """
    if (overrides := sys.modules.get("vistorch.overrides")) is not None:
        overrides.forget()  # classes of files of tests: each test that wants its own to be asked makes them
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def python_names(doctest_namespace):
    """Give examples `float` as a reader knows it."""
    doctest_namespace.update(
        {name: value for name, value in vars(builtins).items() if not name.startswith("_")}
    )


@pytest.fixture(autouse=True)
def nothing_listens(leaves_nothing):
    """End what `vt.graph`, `vt.step` and a look at a module began: other tests say what is noted for themselves."""
    yield
    for name, end in ENDS:
        if (module := sys.modules.get(name)) is not None:
            getattr(module, end)()


@pytest.fixture(autouse=True)
def leaves_nothing():
    """Fail a test, or an example, that leaves a mode other than it found it: the next would pay for it."""
    before = leftovers.Before()
    yield
    seen = before.left()
    assert not seen, "left behind: " + "; ".join(seen)


@pytest.fixture(autouse=True)
def same_draws(request):
    """Give a test the numbers it would draw if it ran alone."""
    draws.again(getattr(request.node, "module", None))


@pytest.fixture(autouse=True)
def same_kernels():
    """Choose kernels as in a new process: oneDNN makes none for new shapes where all those before were new as well."""
    if (primitives := sys.modules.get("vistorch.engine.kernels.onednn.primitives")) is not None:
        primitives._mine.habits.clear()
