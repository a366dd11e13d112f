"""A fresh IPython shell in this process, with nothing of it left behind."""

import atexit
import builtins
import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import vistorch
from vistorch import vt
from vistorch.compat import unalias_torch


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """A shell into which nothing was loaded."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.delattr(
        builtins, "_", raising=False
    )  # an example of a docstring leaves one, and IPython then has none of its own
    monkeypatch.setitem(
        sys.modules, "__main__", sys.modules["__main__"]
    )  # a shell puts a module of its own there
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    yield shell
    vistorch.unload_ipython_extension(shell)
    shell.atexit_operations()
    atexit.unregister(shell.atexit_operations)
    shell.restore_sys_module_state()
    InteractiveShell.clear_instance()
    unalias_torch()
    vistorch.cuda.simulate(None)
    vistorch.set_default_device(None)
    vt.defaults.reset()


@pytest.fixture
def shell(bare):
    """A shell with the extension."""
    bare.run_line_magic("load_ext", "vistorch")
    return bare


class Typed:
    """What came of a line: what was printed, and the error's last line if there was one."""

    def __init__(self, out, err, result):
        self.out, self.err, self.result = out, err, result


@pytest.fixture
def type_in(shell, capsys):
    """Run a cell and return what came of it."""

    def run(cell):
        capsys.readouterr()
        result = shell.run_cell(cell)
        out, err = capsys.readouterr()
        return Typed(out, err, result)

    return run


@pytest.fixture
def sentence(type_in):
    """Run a line that fails, and return its one line."""

    def run(cell):
        typed = type_in(cell)
        assert typed.result.error_in_exec is not None, typed.out
        assert not typed.out
        lines = typed.err.splitlines()
        assert len(lines) == 1, typed.err
        assert lines[0].startswith("UsageError: ")
        return lines[0].removeprefix("UsageError: ")

    return run
