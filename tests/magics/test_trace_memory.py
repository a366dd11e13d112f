"""`%vt memory` of a result, `%%vt memory` of a cell."""

import pytest

import vistorch as L
from vistorch import vt


def test_of_a_result():
    x = L.ones(1000, requires_grad=True)
    shown = vt.memory(x.exp().sin().sum())
    assert shown.record.kind == "memory" and shown.record.peak["bytes"] == 4000
    assert vt.memory([x.exp(), x.exp()]).record.peak["bytes"] == 8000


def test_in_a_cell(type_in):
    type_in("import vistorch as torch\nx = torch.ones(1000, requires_grad=True)")
    typed = type_in("%%vt memory\nloss = (x.exp() * 2).sin().sum()\nloss.backward()\nloss.item()")
    assert "memory: at most 8000 B saved for backward after SinBackward0" in typed.out
    assert "line 2: loss = (x.exp() * 2).sin().sum()" in typed.out
    assert "Out[" in typed.out and typed.result.success
    assert "at most 4000 B" in type_in("%vt memory x.exp().sum()").out


def test_after_an_exception(type_in):
    type_in("import vistorch as torch\nx = torch.ones(1000, requires_grad=True)")
    typed = type_in("%%vt memory\ny = x.exp()\n1 / 0")
    assert isinstance(typed.result.error_in_exec, ZeroDivisionError)
    assert "at most 4000 B" in typed.out
    assert "memory:" not in type_in("%%vt memory\n1 / 0").out


def test_one_line_each(sentence, type_in):
    type_in("import vistorch as torch\nx = torch.ones(2)")
    assert sentence("%vt memory").startswith("`memory` needs a tensor or a cell: type `%vt memory loss`")
    assert (
        sentence("%vt memory x") == "it has no history: it was computed from nothing that requires a gradient"
    )
    type_in("y = x.requires_grad_().exp().sum()\ny.backward()")
    assert sentence("%vt memory y") == (
        "the graph was freed by a backward pass: what its nodes kept is gone; run the forward pass again, "
        "and look before backward()"
    )
    assert sentence("%vt memory 3").startswith("expected a result with history, got int")
    assert sentence("%vt memory []").startswith("expected a result with history, got list")
    assert sentence("%%vt memory x\nx").startswith("`%%vt memory` watches its cell and takes nothing else")
    with pytest.raises(vt.Refusal, match="needs a tensor or a cell"):
        vt.memory()


def test_a_cell_that_runs_on_torch(shell, type_in):
    torch = pytest.importorskip("torch")
    shell.user_ns.update(real=torch, net=torch.nn.Sequential(torch.nn.Linear(4, 100), torch.nn.Tanh()))
    typed = type_in("%%vt memory\nloss = net(real.ones(8, 4)).sum()\nloss.backward()")
    assert "at most 3328 B" in typed.out and "TanhBackward0" in typed.out, typed.out
    assert "at most 3328 B" in type_in("%vt memory net(real.ones(8, 4)).sum()").out
