"""What a program frees is freed, whatever command has looked at it: with the collector off, nothing is left."""

import gc
import weakref

import pytest
import torch
from torch import nn

from vistorch import vt
from vistorch.debug.source import named


class Program:
    """A network, a batch, and a loss whose graph is watched for being freed."""

    def __init__(self):
        torch.manual_seed(0)
        self.net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2))
        self.x = torch.randn(5, 4)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.watched = []

    def loss(self):
        hidden = self.net[1](self.net[0](self.x))
        loss = self.net[2](hidden).square().mean()
        mark = type("Mark", (), {})()
        loss.grad_fn.metadata["mark"] = mark
        hidden.grad_fn.metadata["mark"] = mark  # goes with whichever node is freed last
        self.watched += [weakref.ref(hidden), weakref.ref(loss), weakref.ref(mark)]
        return loss

    def around(self, loss=None):
        return {"net": self.net, "x": self.x, "loss": loss}


def train(program, steps=3):
    for _ in range(steps):
        program.optimizer.zero_grad()
        program.loss().backward()
        program.optimizer.step()


def show(program):
    loss = program.loss()
    vt.show(loss)
    vt.show({"loss": loss, "net": program.net})


def vars_(program):
    vt.vars(namespace=program.around(program.loss()))


def graph(program):
    display = vt.graph(loss := program.loss(), namespace=program.around(loss))
    repr(display)


def step(program):
    vt.step(program.loss(), live="off", namespace=program.around())


def step_both_ways(program):
    walk = named("torch").stepper(program.loss())
    for _ in range(3):
        walk.step()
    walk.back()
    walk.finish()


def step_undone(program):
    walk = named("torch").stepper(program.loss())
    walk.step()
    walk.undo()


def step_replayed(program):
    vt.step(program.loss(), ran=True)


def break_(program):
    vt.break_("grad.norm > 1e9")
    try:
        train(program)
    finally:
        vt.break_(clear=True)


def trace(program):
    with vt.trace() as found:
        train(program)
    repr(found)


def trace_bad(program):
    with vt.trace() as found:
        loss = program.loss()
        (loss.detach() * 0 + loss * 0).sqrt().backward()
    assert found.record.first is not None


def watch(program):
    with vt.watch(program.net, program.optimizer):
        train(program, 5)


def flow(program):
    train(program)
    vt.flow(program.net)


def record(program):
    with vt.record("run") as run:
        train(program)
    assert len(run.ops) > 5


def compare(program):
    runs = []
    for name in ("first", "second"):
        with vt.record(name) as run:
            train(program, 1)
        runs.append(run)
    vt.compare(*runs)


def memory(program):
    vt.memory(program.loss(), namespace=program.around())


def memory_of_a_run(program):
    with named("torch").timeline() as time:
        train(program)
    time.record()


COMMANDS = [
    show, vars_, graph, step, step_both_ways, step_undone, step_replayed, break_, trace, trace_bad, watch, flow, record,
    compare, memory, memory_of_a_run,
]  # fmt: skip


@pytest.mark.parametrize("act", COMMANDS, ids=lambda act: act.__name__)
def test_nothing_stays_alive(act):
    act(Program())  # what is loaded and remembered once
    named("torch").deafen()
    gc.collect()
    gc.disable()
    try:
        program = Program()
        act(program)
        assert program.watched
        left = [str(one()) for one in program.watched if one() is not None]
        parts = [weakref.ref(part) for part in (program.net, program.x, program.optimizer)]
        del program
        assert not left
        if act is watch:  # its parts know each other, and the model
            gc.collect()
        assert [type(one()).__name__ for one in parts[:2] if one() is not None] == []
    finally:
        gc.enable()
        named("torch").deafen()
