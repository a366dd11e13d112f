"""The first bad value of a program that runs on torch: the same findings and sentences as on the engine."""

import contextlib
import gc
import weakref

import pytest
import torch
from torch.utils.checkpoint import checkpoint

import vistorch
from tests.debug.trace.cells import run
from vistorch.debug.source import named
from vistorch.debug.trace import Trace
from vistorch.torch_source import private
from vistorch.widgets._frame import wire
from vistorch.widgets.trace.command import Tracing

# one program for both libraries: L is the library
SAME = {
    "masked nan": "p = L.tensor([0.5, 0.0], requires_grad=True)\n"
    "h = L.where(p > 0, -p * p.log(), 0.0)\nh.sum().backward()",
    "only in backward": "x = L.zeros(2, 3, requires_grad=True)\nx.sqrt().sum().backward()",
    "a divisor": "x = L.ones(2, requires_grad=True)\ny = x / (x - 1)\ny.mean().backward()",
    "a mask of infinities": "x = L.ones(3, 3, requires_grad=True)\nm = L.tensor([[0.0, INF, INF]] * 3)\n"
    "(x - m).softmax(-1).sum().backward()",
    "nothing unmasked": "x = L.ones(3, 3, requires_grad=True)\nm = L.tensor([[INF, INF, INF]] * 3)\n"
    "(x - m).softmax(-1).sum().backward()",
    "overflow": "x = L.ones(3, requires_grad=True)\ny = (x * 100).exp()\n(y - y).sum().backward()",
    "given and healed": "x = L.tensor([1.0, NAN])\ny = L.nan_to_num(x) * 2",
    "a number": "x = L.ones(4, requires_grad=True)\n(x.sum() / 0).backward()",
    "in place": "x = L.ones(3)\nx.log_()\nx.sub_(1)\nx.log_()",
    "written first": "x = L.empty(3, 3)\nx[0] = 1\nx[1:] = 2\ny = x * 2",
    "diverged": "w = L.tensor([1.0], requires_grad=True)\nfor i in range(40):\n    loss = ((w * 10.0) ** 2).sum()\n"
    "    w.grad = None\n    loss.backward()\n    with L.no_grad():\n        w -= 10 * w.grad",
    "an optimizer": "w = L.nn.Parameter(L.ones(2))\no = L.optim.SGD([w], lr=1e30)\nfor i in range(4):\n"
    "    o.zero_grad()\n    (w ** 2).sum().backward()\n    o.step()",
}


def found(lib, tracer, source, **options):
    with tracer(**options) as trace:
        run(source, L=lib, INF=float("inf"), NAN=float("nan"))
    return trace.record()


def tracer(**options):
    return named("torch").tracer(**options)


@pytest.mark.parametrize("case", SAME)
def test_both_libraries_get_the_same_report_of_the_same_program(case):
    source = SAME[case]
    ours, theirs = found(vistorch, Trace, source), found(torch, tracer, source)
    what = lambda record: (  # noqa: E731
        record.sentence.partition(" in ")[0] if record.first is None else record.sentence,
        record.cure,
        record.first and (record.first["op"], record.first["pass"], record.first["at"].tolist()),
        [leaf["nan"] + leaf["posinf"] + leaf["neginf"] for leaf in record.leaves],
        record.course.partition(":")[0],
    )
    assert what(theirs) == what(ours)
    assert wire.pack("trace", theirs.wire()) and theirs.text()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)

    def forward(self, x):
        return self.second(self.first(x).relu().sqrt())


def test_rows_have_the_module_they_ran_in_and_a_record_has_the_graph():
    torch.manual_seed(0)
    net = Net()
    with tracer(namespace={"net": net}) as trace:
        net(torch.randn(5, 3)).sum().backward()
    record = trace.record()
    rows = {row["op"]: row for row in record.rows}
    assert rows["addmm"]["layer"].startswith("Linear") and record.first["op"] == "sqrt"
    assert record.first["pass"] == "backward" and record.graph is not None
    assert any(row["module"] == "first" for row in record.rows)


def test_watched_passes_give_the_same_bits_and_leave_nothing_behind():
    def passes(trace):
        torch.manual_seed(1)
        net = torch.nn.Sequential(
            torch.nn.Conv2d(1, 3, 3), torch.nn.BatchNorm2d(3), torch.nn.ReLU(), torch.nn.Flatten()
        )
        optimizer = torch.optim.Adam(net.parameters())
        x = torch.randn(2, 1, 6, 6)
        with trace:
            for _ in range(3):
                optimizer.zero_grad()
                (net(x) ** 2).mean().backward()
                optimizer.step()
        return [t.detach().numpy().tobytes() for t in (*net.parameters(), *net.buffers())]

    before = torch.autograd.backward
    hooks = dict(torch.nn.modules.module._global_forward_hooks)
    assert passes(tracer()) == passes(contextlib.nullcontext())
    assert torch.autograd.backward is before and dict(torch.nn.modules.module._global_forward_hooks) == hooks


def test_nothing_of_a_pass_is_kept():
    gc.disable()
    try:
        x = torch.zeros(3, requires_grad=True)
        with tracer() as trace:
            y = x.sqrt()
            y.sum().backward()
            z = weakref.ref(y)
            del y
            (x + 1).sum().backward()
        assert z() is None and trace.record().first["op"] == "sqrt"
    finally:
        gc.enable()


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        bad = g / (x - x)  # made, and put right before it is sent
        return torch.where(torch.isfinite(bad), bad, g * 2)


def test_what_a_node_makes_and_puts_right_by_itself_is_no_bad_value():
    x = torch.ones(3, requires_grad=True)
    with tracer() as trace:
        Twice.apply(x).sum().backward()
    assert trace.record().first is None and x.grad.tolist() == [2, 2, 2]
    with tracer() as trace:  # 0 ** -0.5 inside of the backward of pow with an exponent that needs a gradient
        x = torch.zeros(2, requires_grad=True)
        (x**2).sum().backward()
    assert trace.record().first is None


def test_a_checkpoint_is_traced_in_both_passes():
    layer = torch.nn.Linear(2, 2)
    x = torch.zeros(2, 2, requires_grad=True)
    with tracer() as trace:
        checkpoint(lambda t: (layer(t) * 0).sqrt(), x, use_reentrant=False).sum().backward()
    assert trace.record().first["op"] == "sqrt" and trace.record().first["pass"] == "backward"


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.complex64])
def test_types(dtype):
    x = torch.tensor([300.0, 1.0]).to(dtype).requires_grad_()
    with tracer() as trace:
        y = x
        for _ in range(8):
            y = y * y * y
        y.abs().sum().backward()
    record = trace.record()
    assert (record.first is not None) and wire.pack("trace", record.wire())


def test_a_bound():
    record = found(torch, lambda: tracer(bound=1e3), "x = L.tensor([1.0, 5.0])\ny = x * 100\nz = y * 100")
    assert record.first["which"].tolist() == [3, 3] and record.first["where"].endswith("line 3")


def test_layouts_and_things_without_values_are_let_be():
    with tracer() as trace:
        torch.ones(2, device="meta") * 2
        torch.eye(3).to_sparse() @ torch.ones(3, 1)
        torch.vmap(lambda t: t * 2)(torch.ones(3))
        torch.func.grad(lambda t: (t**2).sum())(torch.ones(3))
    assert trace.record().first is None


def test_an_exception_keeps_what_ran_before_it():
    trace = tracer()
    with pytest.raises(RuntimeError), trace:
        x = torch.zeros(2, 3)
        x.exp() @ x
    record = trace.record()
    assert record.error.startswith("RuntimeError") and [row["op"] for row in record.rows] == ["zeros", "exp"]
    assert not torch.utils._python_dispatch._get_current_dispatch_mode_stack()


def test_one_cell_may_run_on_both():
    with Tracing(None, {}) as tracing:
        vistorch.ones(2).exp()
        torch.zeros(2).log()
    assert (
        tracing.record.first["op"] == "log"
        and "On vistorch, in the same run: there is no" in tracing.record.says[-1]
    )
    with Tracing(None, {}) as tracing:
        vistorch.zeros(2).log()
    assert tracing.record.first["op"] == "log" and not tracing.record.says


def test_an_op_of_the_dispatcher_says_what_it_reads_and_writes():
    schema = private.Schema(torch.ops.aten.add_.Tensor)
    assert schema.name == "add_" and schema.written == [(0, "self")] and not schema.views
    assert private.Schema(torch.ops.aten.t.default).views
    div = private.Schema(torch.ops.aten.div.Tensor)
    assert [n for n, wanted in zip(div.names, div.inputs, strict=True) if wanted] == ["self", "other"]


def test_private_names_of_tracing():
    seen = []

    class Mode(private.DispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    with Mode():
        torch.ones(2).exp()
        with private.without_dispatch_modes():
            torch.ones(2).log()
    assert seen == ["aten.ones.default", "aten.exp.default"]
    x = torch.ones(4)
    assert private.key_of_memory(x) == private.key_of_memory(x[1:]) != private.key_of_memory(x.clone())
    assert private.key_of_memory(torch.eye(2).to_sparse()) == 0
    assert private.CURRENT_NODE() is None and private.NEXT_SEQUENCE() == private.next_sequence()
    steps = []
    handles = private.on_optimizer_step(lambda *a: steps.append("before"), lambda *a: steps.append("after"))
    torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0).step()
    for handle in handles:
        handle.remove()
    torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0).step()
    assert steps == ["before", "after"]
