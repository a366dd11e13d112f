"""`%%vt trace`: a cell that is recorded behaves as one that is not, and what was found is shown, whatever ends it."""

import re

import pytest

import vistorch as L
from vistorch import vt
from vistorch.engine.base.events import _listeners

START = "import vistorch as torch\nx = torch.tensor([4.0, 0.0], requires_grad=True)"


@pytest.fixture
def started(type_in):
    type_in(START)
    before = list(_listeners)
    yield type_in
    assert _listeners == before


def test_a_cell_runs_as_usual_and_is_reported(started, shell):
    typed = started("%%vt trace\ny = x.log()\nprint('said')\ny.sum()")
    assert typed.result.success and not typed.err
    assert typed.out.startswith("said\n")
    shown, _, seen = typed.out.partition("first bad value: ")
    assert "tensor(-inf, grad_fn=<SumBackward0>)" in shown
    assert re.search(
        r"comes from cell \[\d+\], line 2: log of \w+\[1\] = 0 gives -inf, in 1 of 2 values\.", seen
    )
    assert ">   2  y = x.log()" in seen and "    1  # %%vt trace" in seen
    assert shell.user_ns["y"].tolist()[1] == float("-inf")
    assert shell.user_ns["_"] is not None and float(shell.user_ns["_"].detach()) == float("-inf")


def test_backward_is_in_it_and_leaves_have_their_names(started):
    seen = started("%%vt trace\ny = x.sqrt()\n(y * torch.tensor([1.0, 0.0])).sum().backward()").out
    assert "comes from the backward of cell" in seen and "of x.grad" in seen
    assert "ORIGIN 0 / (2 · 0) = nan" in seen


def test_parameters_are_named_by_their_module(started):
    cell = (
        "net = torch.nn.Sequential(torch.nn.Linear(2, 1))\n"
        "%%vt trace\n(net(torch.ones(1, 2)) * float('inf') * 0).sum().backward()"
    )
    first, second = cell.split("\n", 1)
    started(first)
    assert "net[0].bias.grad" in started(second).out or "net[0].weight.grad" in started(second).out


def test_the_number_and_the_line_are_the_cell_s(started, shell, capsys):
    for _ in range(2):
        result = shell.run_cell("%%vt trace\n\n\nx.log()", store_history=True)
        assert f"comes from cell [{result.execution_count}], line 4: " in capsys.readouterr().out


def test_an_exception_ends_the_cell_and_leaves_what_was_found(started, shell):
    typed = started("%%vt trace\ny = x.log()\n1 / 0\nz = 1")
    assert isinstance(typed.result.error_in_exec, ZeroDivisionError)
    assert "z" not in shell.user_ns and "y" in shell.user_ns
    seen = re.sub(r"\x1b\[[0-9;]*m", "", typed.out)
    assert "The cell ended with ZeroDivisionError: division by zero" in seen
    assert seen.count("ZeroDivisionError") == 3  # in what was found, and at both ends of one traceback
    assert seen.index("first bad value") < seen.index("Traceback (most recent call last)")
    assert "line 3\n      1 # %%vt trace" in seen
    assert re.search(r"3  1 / 0 +ended here", seen)
    for ours in ("run_cell_magic", "vistorch/vt", "running.py"):
        assert ours not in seen


def test_after_an_exception_errors_are_shown_as_before(started, shell):
    before = vars(shell).get("showtraceback")
    started("%%vt trace\n1 / 0")
    assert vars(shell).get("showtraceback") is before and "_showtraceback" not in vars(shell)
    assert "cache" not in vars(shell.compile)
    assert "no_such_name" in started("no_such_name").out


def test_an_exception_that_is_caught_changes_no_later_one(started, shell):
    before = vars(shell).get("showtraceback")
    started(
        "try:\n    get_ipython().run_cell_magic('vt', 'trace', '1 / 0')\nexcept ZeroDivisionError:\n    pass"
    )
    seen = started("int('later')").out
    assert "ValueError" in seen and "ZeroDivisionError" not in seen
    assert vars(shell).get("showtraceback") is before


def test_a_cell_that_cannot_be_read_is_reported_once_and_nothing_else(started):
    typed = started("%%vt trace\ny = = 1")
    assert isinstance(typed.result.error_in_exec, SyntaxError)
    seen = re.sub(r"\x1b\[[0-9;]*m", "", typed.out)
    assert seen.count("SyntaxError") == 1 and "line 2" in seen
    assert "first bad value" not in seen and "running.py" not in seen


def test_a_refusal_within_is_one_line(started):
    typed = started("%%vt trace\n%vt nope")
    assert typed.err.splitlines() == [
        "UsageError: there is no command 'nope': type `%vt` to see which there are"
    ]
    assert not typed.out


def test_a_cell_without_ops_is_reported_too(started):
    assert "There is no bad value in 0 ops forward and 0 back." in started("%%vt trace\nz = 1").out


def test_another_cell_magic_may_stand_below(started):
    typed = started("%%vt trace\n%%capture caught\nprint('inside')\ny = x.exp()")
    assert typed.result.success
    assert "There is no bad value in 1 op forward and 0 back." in typed.out


def test_a_bound(started, sentence):
    assert "1 of 2 beyond the bound" in started("%%vt trace --bound 3\ny = x * 1").out
    assert sentence("%%vt trace --bound -1\nx").startswith(
        "bound is a number above 0, not -1.0: type --bound"
    )
    assert sentence("%%vt trace --bound much\nx").startswith("--bound does not take 'much'")
    assert sentence("%vt trace").startswith("`trace` needs a cell: type `%%vt trace` on its first line")
    assert "%%vt trace --bound 1e4" in started("%vt trace?").out


def test_as_a_context_it_keeps_what_ran_before_an_exception():
    x = L.tensor([1.0, 0.0])
    with pytest.raises(ZeroDivisionError), vt.trace() as found:
        y = x.log()
        raise ZeroDivisionError("here")
    assert found.record.first["op"] == "log" and found.record.error == "ZeroDivisionError: here"
    assert repr(found) == found.display.text() and y is not None
    bundle = found._repr_mimebundle_()
    assert bundle["text/plain"] == repr(found) and bundle["image/svg+xml"].startswith("<svg")
    with pytest.raises(vt.Refusal, match="bound is a number above 0"):
        vt.trace(bound=0)


def test_a_leaf_is_called_what_it_is_called_around():
    weight = L.tensor([0.0], requires_grad=True)
    with vt.trace() as found:
        weight.sqrt().sum().backward()
    assert found.record.leaves[0]["name"] == "weight"


def test_what_it_shows_can_be_exported(tmp_path):
    with vt.trace() as found:
        L.zeros(2).log()
    found._repr_mimebundle_()
    path = tmp_path / "trace.svg"
    assert "trace" in vt.export(path, found)
    assert path.read_text().startswith("<svg")
