"""Programs that torch.compile compiles: compiled as if nobody looked, and seen where they run as they are written."""

import contextlib

import pytest
import torch
from torch import nn

from vistorch.debug.source import named
from vistorch.debug.watch import watch
from vistorch.torch_source import listening, private

pytestmark = pytest.mark.filterwarnings("ignore")


class Broken(nn.Module):
    """Two layers, between which torch.compile has to break its graph."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 8), nn.Linear(8, 3)

    def forward(self, x):
        x = self.first(x)
        torch._dynamo.graph_break()
        return self.second(x)


def whole():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))


@contextlib.contextmanager
def listened():
    listening.start()
    try:
        yield
    finally:
        listening.stop()


LOOKS = {
    "graph": lambda model: listened(),
    "watch": lambda model: watch(),
    "watch a model": lambda model: watch(model),
}


def train(make, look):
    """Two steps of training: the loss, how often the program was broken and why, how many graphs were compiled."""
    from torch._dynamo.utils import counters

    torch._dynamo.reset()
    counters.clear()
    torch.manual_seed(0)
    model = make()
    compiled = torch.compile(model, backend="aot_eager")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with look(model) as seen:
        for _ in range(2):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(compiled(torch.ones(3, 4)), torch.tensor([0, 1, 2]))
            loss.backward()
            optimizer.step()
    return (loss.item(), dict(counters["graph_break"]), dict(counters["stats"])), seen


def test_a_program_is_compiled_as_if_nobody_looked():
    want, _ = train(Broken, lambda model: contextlib.nullcontext())
    for name, look in LOOKS.items():
        got, seen = train(Broken, look)
        assert got == want, name
        if name.startswith("watch"):
            assert seen.says == [] and seen.step == 2 and seen.accuracy()["seen"].tolist() == [2, 2, 2], name


def test_a_program_that_was_recorded_is_compiled_in_one_piece_afterwards():
    for make in (
        lambda model: named("torch").tracer(),
        lambda model: named("torch").recorder("a run", lambda t: None),
    ):
        (_, _, compiled), seen = train(whole, make)
        assert len(seen.rows) > 10 and not compiled  # torch compiles nothing below a dispatch mode
    _, broken, compiled = train(whole, LOOKS["graph"])[0]
    assert not broken and compiled["unique_graphs"] == 1


def test_what_runs_as_it_is_written_in_a_compiled_program_is_noted():
    torch._dynamo.reset()
    model = Broken()
    compiled, calls = torch.compile(model, backend="eager"), []

    @torch.compiler.disable
    def fetch(*given):
        calls.append(listening._state.noting.modules.call)

    model.second.register_forward_hook(fetch)
    with listened():
        compiled(torch.ones(3, 4))
    called = [one.module() for one in calls[0].around()]
    assert called == [compiled, model]


def test_a_function_that_is_left_as_it_is_written():
    ran = []

    def fetch(x):
        ran.append(torch.compiler.is_dynamo_compiling())
        return x * 2

    @torch.compile(backend="eager")
    def program(x):
        torch._dynamo.graph_break()
        return x.register_hook(fetch) and (x * 3)

    torch._dynamo.reset()
    assert private.uncompiled(fetch) is fetch
    program(torch.ones(2, requires_grad=True)).sum().backward()
    assert ran == [False]
