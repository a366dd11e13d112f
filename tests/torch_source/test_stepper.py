"""A walked pass against `backward()`, bit by bit: networks, the edges of autograd, and random programs."""

import gc
import weakref

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

import vistorch
from tests.torch_source import programs
from tests.torch_source.models import MODELS
from vistorch.debug import Stepper, check_node, graph_bytes
from vistorch.debug.source import named, source_of
from vistorch.torch_source.stepper import TorchStepper


def leaf(*shape, **more):
    return torch.randn(*shape, requires_grad=True, **more)


def there_and_back(make):
    """The gradients of plain `backward()`, and those of a walk that went to the end, back, and to the end again."""
    torch.manual_seed(0)
    leaves, loss = make()
    loss.backward()
    want = programs.grads(leaves)
    torch.manual_seed(0)
    leaves, loss = make()
    walk = TorchStepper(loss)
    walk.last()
    count = walk.position
    walk.first()
    assert all(t.grad is None for t in leaves)
    while walk.position < count // 2:
        walk.step()
    walk.take_back_to(count // 4)
    walk.finish()
    return want, programs.grads(leaves), count


@pytest.mark.parametrize("name", MODELS)
def test_networks(name):
    def make():
        net, loss = MODELS[name]()
        return list(net.parameters()), loss()

    want, got, count = there_and_back(make)
    assert programs.same(want, got) and count > 15
    assert any(g is not None and bool(g[0].any()) for g in got)


def test_the_stepper_of_a_script_takes_tensors_of_torch():
    x, w = (torch.tensor(value, requires_grad=True) for value in (3.0, 2.0))
    walk = Stepper((w * x) ** 2, names={x: "x", w: "w"})
    assert isinstance(walk, TorchStepper) and walk.count == 4
    assert str(walk.step()) == "1 of 4: PowBackward0"
    walk.finish()
    assert (x.grad.item(), w.grad.item()) == (24.0, 36.0)
    walk = Stepper([x * w, w.exp()], [torch.tensor(2.0), torch.tensor(0.0)], inputs=[x])
    walk.finish()
    assert x.grad.item() == 28.0
    with pytest.raises(ValueError, match="this tensor has no graph"):
        Stepper(torch.ones(2))


def test_what_reads_only_our_graphs_says_what_reads_torchs():
    loss = (leaf(3) ** 2).sum()
    with pytest.raises(ValueError, match=r"Stepper\(loss\)\.check\(node\)"):
        check_node(loss.grad_fn)
    walk = Stepper(loss)
    assert all(right for right, _ in walk.check(walk.nodes[1]))
    with pytest.raises(ValueError, match=r"source_of\(loss\)\.kept\(loss\)"):
        graph_bytes(loss)
    assert source_of(loss).kept(loss) is not None


class OnlyFirst(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, a, b):
        assert a is not None and b is not None
        return a * 2 + b * 3


class Bare(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, a, b):
        assert b is None
        return a * 2


def edge_unbind():
    a = leaf(3, 4)
    return [a], a.unbind(0)[1].sum()


def edge_max():
    a = leaf(3, 4)
    return [a], a.max(1)[0].sum()


def edge_svd():
    a = leaf(4, 4)
    return [a], torch.linalg.svd(a)[1].sum()


def edge_views_in_place():
    a = leaf(3, 4)
    b = a * 1
    b[1] = b[0] * 2
    b[:, 2].mul_(3)
    return [a], (b**2).sum()


def edge_autocast():
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    with torch.autocast("cpu", torch.bfloat16):
        out = net(torch.randn(5, 4))
    return list(net.parameters()), out.float().pow(2).mean()


def edge_sparse():
    words = nn.Embedding(10, 3, sparse=True)
    return [words.weight], words(torch.tensor([1, 1, 2])).sum() + words(torch.tensor([2, 5])).pow(2).sum()


def edge_sparse_and_dense():
    words = nn.Embedding(10, 3, sparse=True)
    return [words.weight], words(torch.tensor([1, 1, 2])).sum() + words.weight.exp().sum()


def edge_function():
    a = leaf(3)
    return [a], OnlyFirst.apply(a)[0].sum()


class Nothing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        return None


def edge_function_that_nothing_comes_to():
    a, b = leaf(3), leaf(3)
    return [a, b], Nothing.apply(OnlyFirst.apply(a)[0]).sum() + b.sum()


def edge_bare_function():
    a = leaf(3)
    return [a], Bare.apply(a)[0].sum()


def edge_complex():
    a = leaf(3, dtype=torch.cfloat)
    return [a], (a * a.conj() + a.exp()).abs().sum()


def edge_broadcast():
    a, b = leaf(3, 3), leaf(3)
    return [a, b], (a + b).exp().sum()


def edge_attention():
    net, x = nn.MultiheadAttention(8, 2, batch_first=True), leaf(2, 5, 8)
    return [x, *net.parameters()], net(x, x, x)[0].sum()


def edge_weight_norm():
    net = nn.utils.parametrizations.weight_norm(nn.Conv1d(2, 3, 3))
    return list(net.parameters()), net(torch.randn(1, 2, 8)).sum()


def edge_gru():
    net, x = nn.GRU(4, 5, bidirectional=True), leaf(6, 2, 4)
    out, last = net(x)
    return [x, *net.parameters()], out.sum() + last.sum()


def edge_double_backward():
    a = leaf(4)
    (g,) = torch.autograd.grad((a**3).sum(), a, create_graph=True)
    return [a], (g**2).sum()


def edge_hooks():
    a = leaf(3)
    a.register_hook(lambda g: g + 1)
    b = a * 2
    b.register_hook(lambda g: g * 10)
    b.grad_fn.register_prehook(lambda g: (g[0] * 2,))
    b.grad_fn.register_hook(lambda gin, gout: (gin[0] * 3, *gin[1:]))
    a.register_post_accumulate_grad_hook(lambda p: setattr(p, "grad", p.grad * 7))
    return [a], b.sin().sum()


def edge_checkpoint():
    net, x = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.Tanh()), leaf(2, 4)
    return [x, *net.parameters()], checkpoint(net, x, use_reentrant=False).sum()


def edge_saved_tensor_hooks():
    a = leaf(4, 4)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(), torch.from_numpy):
        return [a], (a.exp() @ a).sum()


def edge_transposed():
    a, b = leaf(3, 5), leaf(5, 3)
    return [a, b], (a.t() * b).sum() + (a @ b).pow(2).sum() + a.t().contiguous().sum()


def edge_compiled():
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    return list(net.parameters()), torch.compile(net, backend="aot_eager")(torch.randn(3, 4)).sum()


EDGES = {name[5:]: made for name, made in list(globals().items()) if name.startswith("edge_")}


@pytest.mark.parametrize("name", EDGES)
def test_edges(name):
    want, got, _ = there_and_back(EDGES[name])
    assert programs.same(want, got)


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed):
    assert programs.compare(seed, TorchStepper) is None


def test_a_compiled_region_is_one_step():
    _, loss = edge_compiled()
    names = [named("torch").nodes.name(n) for n in TorchStepper(loss).nodes]
    assert names.count("CompiledFunctionBackward") == 1 and "AddmmBackward0" not in names


def test_hooks_run_once_a_step_and_in_torchs_order():
    def run(walk):
        said = []
        a, c = leaf(2), leaf(2)
        b = a * 2
        for name, t in (("a", a), ("b", b), ("c", c)):
            t.register_hook(lambda g, name=name: said.append(f"tensor {name}"))
        for name, t in (("a", a), ("c", c)):
            t.register_post_accumulate_grad_hook(lambda p, name=name: said.append(f"after {name}"))
        b.grad_fn.register_prehook(lambda g: said.append("before b"))
        b.grad_fn.register_hook(lambda gin, gout: said.append("behind b"))
        loss = (b * c).sum()
        walk(loss)
        return said

    want = run(lambda loss: loss.backward())
    assert run(lambda loss: TorchStepper(loss).finish()) == want and len(want) == 7


def test_the_order_is_the_one_of_torch():
    for name, make in MODELS.items():
        if "checkpoint" in name:
            continue
        loss = make()[1]()
        walk = TorchStepper(loss, retain_graph=True)
        ran = []
        ops = [n for n in walk.nodes if not hasattr(n, "variable")]
        handles = [n.register_prehook(lambda g, n=n, ran=ran: ran.append(n)) for n in ops]
        loss.backward(retain_graph=True)
        for handle in handles:
            handle.remove()
        assert ops == ran, name


def test_each_step_says_what_came_and_went_as_torchs_hooks_see_it():
    net, make = MODELS["LeNet"]()
    loss = make()
    walk = TorchStepper(loss, names={p: name for name, p in net.named_parameters()}, retain_graph=True)
    seen = {}
    handles = [
        n.register_hook(lambda gin, gout, n=n: seen.update({n: ([g for g in gin if g is not None], gout)}))
        for n in walk.nodes
        if not hasattr(n, "variable")
    ]
    loss.backward(retain_graph=True)
    for handle in handles:
        handle.remove()
    net.zero_grad()
    while (frame := walk.step()) is not None:
        if frame.label is not None:
            assert frame.accumulated[0] is None and torch.equal(frame.accumulated[1], frame.incoming)
            continue
        sent, came = seen[frame.node]
        incoming = frame.incoming if isinstance(frame.incoming, list) else [frame.incoming]
        assert all(torch.equal(a, b) for a, b in zip(incoming, came, strict=True))
        assert all(torch.equal(f.gradient, g) for f, g in zip(frame.outgoing, sent, strict=True))
    walk.undo()
    assert all(p.grad is None for p in net.parameters())


def test_a_finished_walk_is_as_a_pass_has_left_it():
    a = leaf(4)
    held = a.grad = torch.ones(4)
    loss = a.exp().sum()
    TorchStepper(loss).finish()
    assert a.grad is held and torch.equal(held, 1 + a.detach().exp())
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        loss.backward()
    with pytest.raises(ValueError, match="the graph was freed by a backward pass"):
        TorchStepper(loss)
    kept = a.exp().sum()
    TorchStepper(kept, retain_graph=True).finish()
    kept.backward()


def test_create_graph_gives_gradients_with_history():
    a = leaf(4)
    TorchStepper((a**3).sum(), create_graph=True).finish()
    a.grad.sum().backward(inputs=[a])
    b = a.detach().clone().requires_grad_()
    (b**3).sum().backward(create_graph=True)
    b.grad.sum().backward(inputs=[b])
    assert torch.equal(a.grad, b.grad)


def test_only_some_inputs():
    def run(walk):
        torch.manual_seed(1)
        a, b = leaf(3), leaf(3)
        c = a * b
        c.retain_grad()
        walk((c.exp() * b).sum(), [b])
        return programs.grads([a, b])

    want = run(lambda loss, inputs: loss.backward(inputs=inputs))
    got = run(lambda loss, inputs: TorchStepper(loss, inputs=inputs).finish())
    assert programs.same(want, got) and want[0] is None


def test_several_roots_and_gradients_of_ones_own():
    def run(walk):
        torch.manual_seed(1)
        a = leaf(3)
        y, z = a.exp(), (a * 2).unbind(0)[1]
        walk([y, z], [torch.arange(3.0), torch.tensor(2.0)])
        return programs.grads([a])

    want = run(torch.autograd.backward)
    assert programs.same(want, run(lambda ts, gs: TorchStepper(ts, gs).finish()))


REFUSED = {
    "no graph": (lambda: torch.ones(2), ValueError, "this tensor has no graph"),
    "leaf": (lambda: leaf(2), ValueError, "this tensor is a leaf"),
    "several numbers": (
        lambda: leaf(2) * 2,
        RuntimeError,
        "grad can be implicitly created only for scalar outputs",
    ),
    "reentrant": (
        lambda: checkpoint(torch.exp, leaf(2), use_reentrant=True).sum(),
        ValueError,
        "use_reentrant=True",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_stepped_is_refused_before_anything_runs(name):
    make, kind, sentence = REFUSED[name]
    with pytest.raises(kind, match=sentence) as refused:
        TorchStepper(make())
    assert "\n" not in str(refused.value)
    with pytest.raises(vistorch.vt.Refusal, match=sentence[5:]):
        vistorch.vt.step(make())


def test_inference_mode_is_refused():
    with torch.inference_mode():
        y = torch.ones(2)
    with pytest.raises(ValueError, match="inference mode"):
        TorchStepper(y)


def test_a_hook_that_fails_leaves_the_pass_before_its_step():
    a = leaf(3)
    b = a.exp()
    fails = [True]

    def hook(g):
        if fails[0]:
            raise ZeroDivisionError("not today")
        return g * 2

    b.register_hook(hook)
    walk = TorchStepper((b * 2).sum())
    with pytest.raises(ZeroDivisionError, match="not today"):
        walk.last()
    assert walk.position == 2 and walk.next_node is b.grad_fn and a.grad is None
    fails[0] = False
    walk.finish()
    assert torch.equal(a.grad, 4 * a.detach().exp())


def test_what_was_written_over_is_refused_in_torchs_words():
    a = leaf(3)
    b = a.exp()
    loss = b.sum()
    with torch.no_grad():
        b.mul_(2)
    walk = TorchStepper(loss)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        walk.last()
    assert walk.position == 1
    walk.undo()


def test_anomaly_mode_prints_nothing_of_a_step_and_stays_on(recwarn):
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        a = leaf(3)
        TorchStepper(a.exp().sum()).finish()
        assert torch.is_anomaly_enabled() and not torch.is_anomaly_check_nan_enabled()
    assert not [w for w in recwarn if "Error detected" in str(w.message)]


def test_breakpoints_read_the_gradients():
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    walk = TorchStepper(x.sqrt().sum())
    stop = walk.run_to_break("bad")
    assert str(stop) == "stopped before SqrtBackward0: bad" and walk.position == 1 and x.grad is None
    assert walk.run_to_break("nan") is None
    walk.undo()


def test_nothing_is_kept_alive_with_the_collector_off():
    gc.collect()
    gc.disable()
    try:
        net, make = MODELS["LeNet"]()
        source = named("torch")
        source.listen()
        loss = make()
        mark = type("Mark", (), {})()  # nodes take no weak reference, what lies in their notes does
        loss.grad_fn.next_functions[0][0].metadata["mark"] = mark
        gone = [weakref.ref(loss), weakref.ref(mark)]
        del mark
        vistorch.vt.graph(loss, namespace={"net": net})
        vistorch.vt.step(loss, namespace={"net": net})
        walk = TorchStepper(loss)
        walk.last()
        walk.undo()
        TorchStepper(loss).finish()
        del loss, walk
        source.deafen()
        held = [ref for ref in gone if ref() is not None]
        assert not held
        module = weakref.ref(net)
        del net, make
        assert module() is None
    finally:
        gc.enable()


def test_a_step_of_the_record_shows_the_numbers_that_went():
    x = torch.ones(2, 2, requires_grad=True)
    shown = vistorch.vt.step((3 * (x + 2) ** 2).mean(), namespace={"x": x})
    assert str(shown) == (
        "backward(): 4 steps, 1 leaf\n"
        "1 of 4  MeanBackward0  1 / 4 = 0.25\n"
        "2 of 4  MulBackward0   0.25 · 3 = 0.75\n"
        "3 of 4  PowBackward0   0.75 · 2 · 3 = 4.5\n"
        "4 of 4  AddBackward0   4.5\n"
        "        -> x.grad: 0 + 4.5"
    )
    assert x.grad is None
    last = shown.record.frames[-1]["grads"][0]["after"]
    assert np.array_equal(shown.record.values[last]["data"], np.full((2, 2), 4.5, "f4"))


def test_functional_losses_have_our_formulas():
    x, target = leaf(4, 3), torch.tensor([0, 1, 2, 0])
    source = named("torch")
    for y in (F.cross_entropy(x, target), F.mse_loss(x, x.detach()), F.layer_norm(x, (3,)), F.gelu(x)):
        for n in source.order([y]):
            if not source.nodes.is_leaf(n):
                assert all(f.latex for f in source.nodes.formulas(n)), n
