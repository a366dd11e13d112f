"""A cell that fails: the user's own frames, a shape error drawn below, and nothing else of the shell changed."""

import gc
import inspect
import re
import sys
import weakref

import pytest

from vistorch.vt import failures

CELL = """import vistorch as torch
net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Linear(84, 10))
def step(batch):
    return net(batch)
"""
HIDDEN = re.compile(r"(\d+) frames? inside vistorch (?:is|are) hidden: type %tb to see")


@pytest.fixture
def failing(type_in):
    """What is shown of a cell that fails."""
    type_in(CELL)

    def run(cell, mode="Context"):
        type_in(f"%xmode {mode}")
        shown = type_in(cell)
        assert not shown.result.success
        return re.sub(r"\x1b\[[0-9;]*m", "", shown.out)

    return run


@pytest.fixture
def shallow():
    """What recurs ends soon: the shell takes milliseconds for each frame."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 300)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.parametrize("mode", ["Context", "Verbose", "Plain", "Docs"])
def test_only_the_users_frames(failing, mode):
    out = failing("step(torch.zeros(2, 8))", mode)
    assert "return net(batch)" in out and "module.py" not in out and "linear.py" not in out
    assert int(HIDDEN.search(out)[1]) >= 4
    assert out.count("mat1 and mat2 shapes cannot be multiplied (2x16 and 84x10)") >= 1
    assert "net[1] takes 84 features, 16 arrive." in out and "net[1] Linear 84 → 10" in out


def test_minimal_stays_minimal(failing):
    out = failing("step(torch.zeros(2, 8))", "Minimal")
    assert HIDDEN.search(out) is None and out.startswith("RuntimeError: mat1")


def test_tb_and_debug_see_all_frames(failing, type_in, shell):
    failing("step(torch.zeros(2, 8))")
    trace, files = shell.InteractiveTB.tb, []
    assert trace is sys.last_traceback is sys.last_value.__traceback__
    while trace is not None:
        files.append(trace.tb_frame.f_code.co_filename)
        trace = trace.tb_next
    assert any(file.endswith("module.py") for file in files)
    assert "module.py" in type_in("%tb").out


@pytest.mark.parametrize(
    "cell", ["1 / 0", "raise KeyError('a')", "def f():\n    f()\nf()", "a b", "import no_such_module"]
)
def test_other_exceptions_are_the_shells_own(failing, type_in, shallow, cell):
    with_it = failing(cell)
    type_in("%config VisTorch.errors = False")
    plain = failing(cell)
    varies = r"In\s?\[\d+\]|\d+ times"  # the shell's own depth is a frame more or less
    assert re.sub(varies, "", with_it) == re.sub(varies, "", plain)
    assert HIDDEN.search(with_it) is None


def test_exceptions_raised_from_each_other(failing):
    out = failing(
        "try:\n    step(torch.zeros(2, 8))\nexcept RuntimeError as error:\n    raise ValueError('mine') from error"
    )
    assert "direct cause" in out and "module.py" not in out and "ValueError: mine" in out
    assert "net[1] takes 84 features" in out
    error = sys.last_value.__cause__
    assert error.__traceback__.tb_next.tb_next is not None  # it is whole again
    out = failing("try:\n    step(torch.zeros(2, 8))\nexcept RuntimeError:\n    1 / 0")
    assert "During handling" in out and "module.py" not in out and "takes 84" not in out


def test_groups_of_exceptions_are_left_to_python(failing, capsys):
    if sys.version_info >= (3, 11):
        failing("raise ExceptionGroup('two', [ValueError(1), RuntimeError(2)])")


@pytest.mark.parametrize("command", ["watch net --epochs 1", "trace", "memory"])
def test_a_cell_of_a_command_shows_only_the_users_frames(failing, command):
    out = failing(f"%%vt {command}\nfor _ in range(2):\n    step(torch.zeros(2, 8))")
    assert "module.py" not in out and "run_cell.py" not in out
    assert out.count("net[1] takes 84 features, 16 arrive.") == 1


@pytest.mark.parametrize("command", ["%%vt watch net", "%%vt trace", "x = 1"])
def test_an_interrupt_shows_only_the_users_frames(failing, command, monkeypatch):
    from vistorch.nn.modules.linear import Linear

    source = "def forward(self, input):\n    raise KeyboardInterrupt\n"
    exec(compile(source, Linear.__init__.__code__.co_filename, "exec"), made := {})
    monkeypatch.setattr(Linear, "forward", made["forward"])
    out = failing(f"{command}\nfor _ in range(2):\n    step(torch.zeros(2, 8))")
    assert "KeyboardInterrupt" in out and "step(torch.zeros(2, 8))" in out
    assert "linear.py" not in out and "module.py" not in out and "run_cell.py" not in out


def test_it_can_be_switched_off_and_ends_with_the_extension(failing, type_in, shell):
    assert "showtraceback" in vars(shell)
    type_in("%config VisTorch.errors = False")
    out = failing("step(torch.zeros(2, 8))")
    assert "module.py" in out and "takes 84" not in out
    type_in("%config VisTorch.errors = True\n%unload_ext vistorch")
    assert "showtraceback" not in vars(shell) and "structured_traceback" not in vars(shell.InteractiveTB)
    out = failing("step(torch.zeros(2, 8))")
    assert "module.py" in out and "takes 84" not in out


def test_what_fails_here_is_not_seen(failing, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(failures, "explain", broken)
    out = failing("step(torch.zeros(2, 8))")
    assert "module.py" not in out and "ZeroDivisionError" not in out
    monkeypatch.setattr(failures, "trimmed", broken)
    out = failing("step(torch.zeros(2, 8))")
    assert "module.py" in out and "ZeroDivisionError" not in out


def test_another_handler_stays(type_in, shell):
    seen = []
    shell.set_custom_exc((RuntimeError,), lambda self, kind, value, trace, tb_offset=None: seen.append(value))
    type_in(CELL)
    type_in("step(torch.zeros(2, 8))")
    assert len(seen) == 1
    shell.set_custom_exc((), None)


def test_nothing_is_kept_alive(failing, type_in, shell):
    failing("big = torch.zeros(3, 4)\nbig @ big")
    kept = weakref.ref(shell.user_ns["big"])
    type_in("del big")
    failing("1 / 0")
    for name in ("last_value", "last_traceback", "last_exc"):
        if hasattr(sys, name):
            delattr(sys, name)
    shell.InteractiveTB.tb = None
    shell.last_execution_result = None
    gc.collect()
    assert kept() is None or not any(
        isinstance(owner, failures.Failures) for owner in gc.get_referrers(kept())
    )
