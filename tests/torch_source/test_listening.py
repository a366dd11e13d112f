"""What noting lines, modules and norms leaves of a program: everything as it was."""

import copy

import pytest
import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils.checkpoint import checkpoint

from tests.torch_source import programs
from vistorch.torch_source import listening, notes
from vistorch.torch_source.nodes import NODES


@pytest.fixture(autouse=True)
def noted():
    """Everything is noted, as after a first command, and torch is left as it was."""
    hooks, backward = len(nn.modules.module._global_forward_hooks), torch.autograd.backward
    listening.start()
    yield
    listening.stop()
    assert torch._C._len_torch_function_stack() == 0 and torch.autograd.backward is backward
    assert len(nn.modules.module._global_forward_hooks) == hooks


def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))


def lines(loss):
    """The text of the line of each node."""
    from vistorch.debug.line_lookup import line_of

    found, waiting = {}, [loss.grad_fn]
    while waiting:
        n = waiting.pop()
        if not NODES.is_leaf(n):
            line = line_of(NODES.place(n))
            found[NODES.name(n)] = None if line is None else line.text
            waiting += [below for below, _ in n.next_functions if below is not None]
    return found


def test_every_node_has_the_line_that_a_person_wrote():
    x = torch.ones(3, 4, requires_grad=True)
    y = torch.nn.functional.linear(x, torch.ones(2, 4, requires_grad=True))
    y[0] = 0.0
    loss = y.norm(dim=1).std()
    found = lines(loss)
    assert found["StdBackward0"] == "loss = y.norm(dim=1).std()" == found["LinalgVectorNormBackward0"]
    assert found["CopySlices"] == "y[0] = 0.0"
    assert (
        found["MmBackward0"].startswith("y = torch.nn.functional.linear")
        and found["TBackward0"] == found["MmBackward0"]
    )


def test_modules_are_known_also_after_one_has_failed():
    model = net()
    with pytest.raises(RuntimeError):
        model(torch.ones(2, 3))
    loss = model(torch.ones(2, 4)).sum()
    call = notes.noted(loss.grad_fn.next_functions[0][0])[1]
    assert [one.module() for one in call.around()] == [model, model[2]]
    assert notes.noted(loss.grad_fn)[1] is None


@pytest.mark.parametrize("seed", range(10))
def test_gradients_are_those_of_a_program_that_nobody_looks_at(seed):
    leaves, kept, loss = programs.program(seed)
    try:
        loss.backward()
    except RuntimeError:
        return
    seen = programs.grads([*leaves, *kept])
    listening.stop()
    leaves, kept, loss = programs.program(seed)
    loss.backward()
    assert programs.same(seen, programs.grads([*leaves, *kept]))


@pytest.mark.filterwarnings("ignore")
def test_other_ways_to_run_a_model_work():
    model, x = net(), torch.randn(3, 4)
    want = model(x)
    assert torch.equal(torch.jit.trace(model, x)(x), want)
    assert torch.equal(torch.fx.symbolic_trace(model)(x), want)
    assert torch.equal(torch.vmap(model)(x), want) or torch.allclose(torch.vmap(model)(x), want)
    assert torch.equal(torch.func.grad(lambda t: (t**2).sum())(torch.ones(2)), torch.full((2,), 2.0))
    assert torch.equal(copy.deepcopy(model)(x), want)
    with torch.inference_mode():
        assert torch.equal(model(x), want)
    with torch.autocast("cpu"):
        model(x).sum().backward()
    checkpoint(model, x.clone().requires_grad_(), use_reentrant=True).sum().backward()
    assert torch.autograd.gradcheck(torch.sin, torch.randn(2, dtype=torch.float64, requires_grad=True))


class Mine(TorchFunctionMode):
    """A mode of the program's."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def test_a_mode_of_the_programs_is_not_left_by_us():
    mine = Mine()
    with mine:
        listening.stop()  # ours lies below: it is left later
        assert torch.overrides._get_current_function_mode() is mine
    assert torch._C._len_torch_function_stack() == 1
    listening.stop()
    assert torch._C._len_torch_function_stack() == 0
    torch.set_default_device("cpu")
    listening.start()
    torch.set_default_device(None)
    assert torch._C._len_torch_function_stack() == 1


def test_only_the_first_passes_of_a_cell_are_noted():
    model = net()
    for _ in range(listening.PASSES + 2):
        loss = model(torch.ones(2, 4)).sum()
        loss.backward()
    assert notes.noted(model(torch.ones(2, 4)).sum().grad_fn) is None
    assert torch._C._len_torch_function_stack() == 0
    listening.next_cell()
    assert notes.noted(model(torch.ones(2, 4)).sum().grad_fn) is not None
    listening.stop()
    listening.next_cell()
    assert torch._C._len_torch_function_stack() == 0
