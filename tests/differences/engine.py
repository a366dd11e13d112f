"""Checks of what docs/differences.md says of tensors, the graph and random numbers."""

import gc
import io
import threading
import warnings

import numpy as np
import torch

import vistorch

from .sentences import claims, message, nodes


@claims("Flags.")
@claims("A `numpy.bool` is a bool, wherever one is asked for.")
def flags():
    """`tests/ops/test_flags.py` gives one to each flag."""
    for run in (
        lambda L: L.ones(2, 2).sum(0, keepdim=np.bool_(True)),
        lambda L: L.ones(2).requires_grad_(np.bool_(True)),
        lambda L: L.zeros(2, requires_grad=True).sum().backward(retain_graph=np.bool_(True)),
    ):
        run(vistorch)
        assert message(run, torch).startswith("TypeError")


@claims(
    "Names print with `vistorch.` where PyTorch prints `torch.`; the names of nodes (`AddBackward0`) and "
    "the error messages are the same."
)
def names_and_messages():
    seen = []
    for L in (vistorch, torch):
        x = L.ones(2, requires_grad=True)
        seen.append((str(L.float64), (x + 1).grad_fn.name(), message(lambda x=x, L=L: x + L.ones(3))))
    assert seen[0][0] == "vistorch.float64" and seen[1][0] == "torch.float64"
    assert seen[0][1:] == seen[1][1:] and seen[0][1] == "AddBackward0" and seen[0][2]


@claims("Views of values are computed, not lazy.")
@claims("`conj()`, and the complex `H`, `mH` and `adjoint()`, return a tensor with memory of its own.")
def views_of_values():
    for L in (vistorch, torch):
        x = L.tensor([[1 + 2j, 3]])
        for one in (x.conj(), x.H, x.mH, x.adjoint()):
            assert (one.data_ptr() == x.data_ptr()) is (L is torch)


@claims("`is_conj()` is always False.")
def is_conj():
    assert [L.tensor([1j]).conj().is_conj() for L in (vistorch, torch)] == [False, True]


def reshaped(L):
    x = L.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 2
    view = y[0]
    y.t_()
    return x, y, view


@claims(
    "In-place reshapes (`t_`, `squeeze_`, `transpose_`, ...) leave older views of the tensor as they are."
)
def older_views():
    for name, arguments in (("t_", ()), ("squeeze_", ()), ("transpose_", (0, 1))):
        seen = []
        for L in (vistorch, torch):
            base = L.arange(3.0).reshape(1, 3)
            view = base[:, 1:]
            getattr(base, name)(*arguments)
            view.mul_(5)
            seen.append((tuple(view.shape), view.stride(), tuple(base.shape), base.tolist()))
        assert seen[0] == seen[1] and seen[0][0] == (1, 2) and seen[0][2] != (1, 3)


@claims(
    "A hook that was there before a later view of it was written does not see what flows on from the write."
)
def hooked_before_a_write():
    seen = []
    for L in (vistorch, torch):
        x, y, _ = reshaped(L)
        y.register_hook(lambda g: g * 10)
        y[0].add_(1)
        y.sum().backward()
        seen.append(x.grad.tolist())
    assert seen == [[[2, 2, 2], [2, 2, 2]], [[20, 20, 20], [20, 20, 20]]]


@claims(
    "A hook registered afterwards gets the gradient in the tensor's new shape; where PyTorch adds it to hooks from "
    "before, it gets that in the old one, and runs last."
)
def hooked_after():
    seen = []
    for L in (vistorch, torch):
        for before in (True, False):
            y, calls = L.ones(2, 3, requires_grad=True) * 2, []
            if before:
                y.register_hook(lambda g, calls=calls: calls.append(("before", tuple(g.shape))))
            y.t_()
            y.register_hook(lambda g, calls=calls: calls.append(("after", tuple(g.shape))))
            y.sum().backward()
            seen.append(calls)
    assert seen[0] == [("after", (3, 2)), ("before", (2, 3))]
    assert seen[2] == [("before", (2, 3)), ("after", (2, 3))]
    assert seen[1] == seen[3] == [("after", (3, 2))]


@claims(
    "A gradient retained on the reshaped tensor, and a hook of it, do not see what flows through those views."
)
def retained():
    seen = []
    for L in (vistorch, torch):
        x, y, view = reshaped(L)
        y.retain_grad()
        hooked = []
        y.register_hook(lambda g, hooked=hooked: hooked.append(g.tolist()))
        view.sum().backward()
        assert x.grad.tolist() == [[2, 2, 2], [0, 0, 0]]
        seen.append((None if y.grad is None else y.grad.tolist(), hooked))
    flows = [[1, 0], [1, 0], [1, 0]]
    assert seen == [(None, []), (flows, [flows])]


@claims("Histories.")
@claims(
    "The backward pass of `prod` multiplies the other elements and never reads its result, so a hook of that "
    "result sees nothing of a second derivative."
)
def hooks_of_a_product():
    for L, calls in ((vistorch, 1), (torch, 2)):
        x = L.tensor([2.0, 3.0], requires_grad=True)
        y, seen = x.prod(0), []
        y.register_hook(lambda g, seen=seen: seen.append(g.item()))
        (first,) = L.autograd.grad(y, x, create_graph=True)
        assert first.tolist() == [3, 2]
        (second,) = L.autograd.grad(first.sum(), x)
        assert second.tolist() == [1, 1] and len(seen) == calls


@claims(
    "An inference tensor that was detached and then written by what requires grad, outside of inference mode, "
    "passes the gradient on; in PyTorch it has a `grad_fn` too, but ops such as `sum` and `exp` drop it."
)
def written_inference_tensors():
    for L, passed in ((vistorch, True), (torch, False)):
        x = L.ones(2, requires_grad=True)
        with L.inference_mode():
            y = L.ones(2) + 1
        z = y.detach()
        z += x * 2
        assert z.is_inference() and z.grad_fn is not None
        assert z.sum().requires_grad is z.exp().requires_grad is passed
        if passed:
            z.sum().backward()
            assert x.grad.tolist() == [2, 2]


@claims(
    "A view whose base was written and then detached in place keeps its history if that was asked for in "
    "between; to PyTorch a call of an op that fails is asking, too."
)
def histories_asked_for():
    asks = (lambda view: None, lambda view: view.grad_fn, lambda view: message(view.diagonal))
    kept = []
    for L in (vistorch, torch):
        for ask in asks:
            x = L.ones(2, 2, requires_grad=True)
            base = x * 1
            view = base.diagonal()
            base[0] = 0.5
            ask(view)
            base.detach_()
            view.double().sum().backward()
            kept.append(x.grad is not None and x.grad.tolist() == [[0, 0], [0, 1]])
    assert kept == [False, True, False, False, True, True]


@claims(
    "In-place `asinh_`, `acosh_`, `atanh_`; `where` and `logaddexp` of a real with a complex tensor; "
    "`scatter(reduce=...)`; a complex tensor filled with a real one; a saved tensor that was detached in "
    "place: PyTorch raises there."
)
def more_is_differentiable():
    def inverse(name):
        def run(L):
            x = L.tensor([1.5 if name == "acosh_" else 0.5], dtype=L.float64, requires_grad=True)
            getattr(x * 1, name)().sum().backward()
            slope = {"asinh_": 1.25**-0.5, "acosh_": 1.25**-0.5, "atanh_": 1 / 0.75}[name]
            assert abs(x.grad.item() - slope) < 1e-12

        return run

    def mixed(function):
        def run(L):
            real, other = L.tensor([1.0], requires_grad=True), L.tensor([1j], requires_grad=True)
            function(L, real, other).abs().sum().backward()
            assert real.grad.dtype == L.float32 and other.grad is not None

        return run

    def scattered(L):
        warnings.simplefilter("ignore")  # both call it deprecated
        x, source = (L.tensor([one], requires_grad=True) for one in (2.0, 3.0))
        L.scatter(x, 0, L.tensor([0]), source, reduce="multiply").sum().backward()
        assert (x.grad.item(), source.grad.item()) in ((3.0, 2.0), (3.0, 1.0))

    def filled(L):
        value = L.tensor(1.0, requires_grad=True)
        x = L.zeros(2, dtype=L.complex64, requires_grad=True) * 1
        x.fill_(value).abs().sum().backward()
        assert value.grad.item() == 2

    def detached(L):
        x = L.tensor([3.0], requires_grad=True)
        y = x * 2
        z = y * y
        y.detach_()
        z.sum().backward()
        assert x.grad.item() == 24

    runs = [inverse("asinh_"), inverse("acosh_"), inverse("atanh_"), scattered, filled, detached]
    runs += [mixed(lambda L, a, b: L.where(L.tensor([True]), a, b)), mixed(lambda L, a, b: L.logaddexp(a, b))]
    for run in runs:
        with warnings.catch_warnings():
            run(vistorch)
            assert message(run, torch).startswith(("RuntimeError", "NotImplementedError"))


@claims("Operands are read before anything is written.")
@claims(
    "Where PyTorch refuses overlapping memory, so do we, except in `x[x] = ...`, in `index_fill_` by its own "
    "memory, and in `out=` of `sort` and `max` in part of the input's memory: there the result is that of the "
    "values before the call."
)
def operands_first():
    def assigned(L):
        x = L.tensor([1, 0])
        x[x] = 5
        return x.tolist()

    def filled(L):
        x = L.tensor([2, 0, 1])
        return x.index_fill_(0, x, 7).tolist()

    def written(act):
        def run(L):
            x = L.arange(6.0)
            act(L, x)
            return x.tolist()

        return run

    places = {
        assigned: [5, 5],
        filled: [7, 7, 7],
        written(lambda L, x: L.sort(x[:5], out=(x[1:], L.zeros(5, dtype=L.int64)))): [0, 0, 1, 2, 3, 4],
        written(lambda L, x: L.max(x.view(2, 3), 0, out=(x[:3], L.zeros(3, dtype=L.int64)))): [
            3,
            4,
            5,
            3,
            4,
            5,
        ],
    }
    for run, expected in places.items():
        assert run(vistorch) == expected
        assert "refer to a single memory location" in message(run, torch)
    for act in (lambda L, x: L.mul(x[:-1], 10, out=x[1:]), lambda L, x: x.scatter_(0, L.tensor([1, 0]), x)):
        run = written(act)
        assert message(run, vistorch) == message(run, torch)
        assert "refer to a single memory location" in message(run, torch)


@claims(
    "An expanded tensor to which its own values are copied is refused where a graph is recorded; PyTorch raises in "
    "the backward pass."
)
def copied_to_itself():
    def run(L, backward, recorded=True):
        x = L.ones(2, requires_grad=recorded)
        y = (x * 1).expand(3, 2)
        y.copy_(y.detach())
        if backward:
            y.sum().backward()

    for L in (vistorch, torch):
        run(L, False, recorded=False)
        assert "more than one element" in message(lambda L=L: run(L, True))
    assert "more than one element" in message(lambda: run(vistorch, False))
    run(torch, False)


@claims("Order in memory.")
@claims(
    "Results of operands that lie in memory in different orders may lie in another order than PyTorch's, and so may "
    "what `autograd.grad` returns; `.grad` lies as its leaf does."
)
def order_in_memory():
    seen = []
    for L in (vistorch, torch):
        x = L.ones(3, 2).t().requires_grad_()
        y = x.exp().sum()
        (g,) = L.autograd.grad(y, x, retain_graph=True)
        y.backward()
        seen.append([(x + L.ones(2, 3)).stride(), g.stride(), x.grad.stride()])
    assert seen == [[(3, 1), (3, 1), (1, 2)], [(1, 2), (1, 2), (1, 2)]]


@claims("The gradient of a sum of few elements is a tensor of its own, where PyTorch's is an expanded view.")
def gradient_of_a_sum():
    seen = []
    for L in (vistorch, torch):
        few, many = L.ones(2, 3, requires_grad=True), L.ones(100, 100, requires_grad=True)
        seen.append([L.autograd.grad(x.sum(), x)[0]._is_view() for x in (few, many)])
    assert seen == [[False, True], [True, True]]


@claims("Leaves.")
@claims(
    "The backward pass of a graph that was made before its leaf was reshaped in place is refused with a "
    "sentence about that leaf."
)
def leaf_reshaped():
    def run(L):
        leaf = L.ones(2, 3, requires_grad=True)
        y = leaf * 2
        with L.no_grad():
            leaf.t_()
        y.sum().backward()

    assert "leaf" in message(run, vistorch)
    assert message(run, torch).startswith("RuntimeError") and "leaf" not in message(run, torch)


@claims("`out=` that has a history is refused by comparisons too, where PyTorch keeps the old history.")
def out_that_has_a_history():
    def run(L, history):
        out = L.zeros(2, requires_grad=True)
        out = out * 1 if history else out
        return L.eq(L.ones(2), L.ones(2), out=out).tolist()

    assert "don't support automatic differentiation" in message(lambda: run(vistorch, True))
    assert run(torch, True) == run(torch, False) == run(vistorch, False) == [1, 1]


@claims("Resized `out=`.")
@claims(
    "An `out=` that its storage is too short for gets memory of its own: other views of that storage see nothing "
    "of the result."
)
def resized_out():
    seen = []
    for L in (vistorch, torch):
        short = L.zeros(2)
        view = short[:]
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            L.add(L.ones(3), 1, out=short)
        seen.append((view.tolist(), short.tolist()))
    assert seen == [([0, 0], [2, 2, 2]), ([2, 2], [2, 2, 2])]


@claims("`allow_mutation_on_saved_tensors` copies what a write to a view changes too.")
@claims("PyTorch copies what begins where the view begins.")
def saved_and_written_through_a_view():
    found = []
    for L in (vistorch, torch):
        w, x = L.ones(3, requires_grad=True), L.tensor([4.0, 5.0, 6.0])
        with L.autograd.graph.allow_mutation_on_saved_tensors():
            loss = (w * x).sum()
            x[1:].mul_(10)
            loss.backward()
        found.append(w.grad.tolist())
    assert found == [[4, 5, 6], [4, 50, 60]]


@claims("Values that are not numbers.")
@claims("`mode` counts nans as different from each other, where PyTorch's result depends on their order.")
def mode_of_nans():
    nan = float("nan")
    for values in ([nan, 1, 1, nan, nan], [nan, nan, 1, 1, nan], [1, nan, nan, nan, 1]):
        assert vistorch.tensor(values).mode().values.item() == 1
    found = [
        str(torch.tensor(values).mode().values.item()) for values in ([nan, 1.0, nan], [1, nan, 1, nan, nan])
    ]
    assert found == ["nan", "1.0"]


@claims(
    "The gradient of a factor of `prod` is the product of the others, also where the factor is nan or infinite: "
    "PyTorch divides by it, and gets nan."
)
def factors():
    seen = []
    for L in (vistorch, torch):
        for factor in (float("nan"), float("inf")):
            x = L.tensor([factor, 2.0, 3.0], requires_grad=True)
            x.prod().backward()
            seen.append(x.grad[0].item())
    assert seen[:2] == [6, 6] and all(value != value for value in seen[2:])


@claims(
    "Passes within passes (a `backward` that calls `backward`) go about a thousand levels deep in the main "
    "thread, and as deep as Python's stack in others."
)
def passes_within_passes():
    def nested(depth):
        class Deep(vistorch.autograd.Function):
            @staticmethod
            def forward(ctx, x, left):
                ctx.left = left
                return x * 1

            @staticmethod
            def backward(ctx, g):
                if ctx.left:
                    with vistorch.enable_grad():
                        x = vistorch.ones(1, requires_grad=True)
                        Deep.apply(x, ctx.left - 1).sum().backward()
                return g, None

        x = vistorch.ones(1, requires_grad=True)
        Deep.apply(x, depth).sum().backward()
        return x.grad.item()

    assert nested(400) == 1
    ends = []
    thread = threading.Thread(target=lambda: ends.append(nested(20)))
    thread.start()
    thread.join()
    assert ends == [1]


@claims(
    "A `Function`'s `grad_fn` is not `ctx` itself but forwards the attributes that it has not itself; "
    "making them one object would be a reference cycle."
)
def context():
    for L in (vistorch, torch):

        class Double(L.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.factor, ctx.name, Double.ctx = 7, 8, ctx
                return x * 2

            @staticmethod
            def backward(ctx, g):
                return g * 2

        node = Double.apply(L.ones(1, requires_grad=True)).grad_fn
        assert node.factor == 7 and (node is Double.ctx) is (L is torch)


@claims("`CopySlices` shows the op beside it.")
@claims(
    "After an in-place write through a view, `next_functions` of the base's node holds the base's old "
    "history and the op's own node; PyTorch hides the op."
)
def copy_slices():
    seen = []
    for L in (vistorch, torch):
        y = L.ones(3, requires_grad=True).exp()
        y[0].mul_(2)
        assert y.grad_fn.name().endswith("CopySlices")
        seen.append([node and node.name() for node, _ in y.grad_fn.next_functions])
    assert seen == [["ExpBackward0", "MulBackward0"], ["ExpBackward0", None]]


@claims(
    "Hooks on one of several outputs (of `unbind`, `chunk`) are not called when no gradient reaches that "
    "output; PyTorch calls them with None."
)
def hooks():
    for split in (lambda x: x.unbind(), lambda x: x.chunk(2)):
        seen = []
        for L in (vistorch, torch):
            outputs = split(L.ones(4, requires_grad=True) * 1)
            got = []
            outputs[0].register_hook(got.append)
            outputs[1].sum().backward()
            seen.append(got)
        assert seen == [[], [None]]


@claims("Meta tensors are computed on zeros, for which the system gives memory when they are written.")
def meta_memory():
    many = [
        vistorch.empty(2**30, dtype=vistorch.int8, device="meta") for _ in range(64)
    ]  # more than there is
    assert sum(t.numel() for t in many) == 2**36


@claims("A shape that depends on values, as in `nonzero`, is that of zeros, and a file of them is refused.")
def meta_values():
    found = vistorch.ones(3, device="meta").nonzero()
    assert found.shape == (0, 1) and found.is_meta
    assert message(lambda L: L.ones(3, device="meta").nonzero(), torch).startswith("NotImplementedError")
    assert message(lambda L: L.save(L.ones(3, device="meta"), io.BytesIO()), vistorch).startswith(
        "NotImplemented"
    )
    torch.save(torch.ones(3, device="meta"), io.BytesIO())


@claims("Anomaly mode belongs to a thread.")
def anomaly():
    seen = []
    for L in (vistorch, torch):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mode = L.autograd.detect_anomaly()
        with mode:
            other = threading.Thread(target=lambda L=L: seen.append(L.is_anomaly_enabled()))
            other.start()
            other.join()
    assert seen == [False, True]


def draws(name, dtype, count):
    """Return the same draws of both libraries, in double precision."""
    found = []
    for L in (vistorch, torch):
        L.manual_seed(0)
        x = L.empty(count, dtype=getattr(L, dtype))
        found.append(getattr(x, name)(*((0.3,) if name == "geometric_" else ())).double().numpy())
    return found


def close(name, dtype, count):
    """Say whether both draw the same, up to the last bits."""
    ours, theirs = draws(name, dtype, count)
    step = {"float16": 2**-10, "float32": 2**-23, "float64": 2**-52}[dtype]
    same = ours == theirs  # infinities too
    return (
        same | (abs(np.where(same, 0, ours) - np.where(same, 0, theirs)) <= 16 * step * abs(theirs) + 1e-12)
    ).all()


@claims("Random numbers are PyTorch's bit for bit for the same seed, with these exceptions.")
def same_bits():
    names = ("normal_", "uniform_", "exponential_", "cauchy_", "log_normal_", "geometric_")
    for dtype in ("float16", "float32", "float64"):
        for name in names:
            ours, theirs = draws(name, dtype, 100)
            assert (ours == theirs).all(), (name, dtype)
        for name in ("uniform_", "geometric_"):
            ours, theirs = draws(name, dtype, 70_000)
            assert (ours == theirs).all(), (name, dtype)
    for name in ("exponential_", "cauchy_", "log_normal_"):
        ours, theirs = draws(name, "float32", 70_000)
        assert (ours == theirs).all(), name


@claims("In `normal` of more than 65,536 half or single precision numbers the last bits may differ.")
def large_normal():
    for dtype in ("float16", "float32"):
        ours, theirs = draws("normal_", dtype, 65_536)
        assert (ours == theirs).all()
        assert close("normal_", dtype, 65_537)
    ours, theirs = draws("normal_", "float32", 65_552)
    assert (ours != theirs).any()


@claims(
    "So they may in large draws of `normal`, `exponential`, `cauchy` and `log_normal` in double or half "
    "precision."
)
def other_large_draws():
    for name in ("normal_", "exponential_", "cauchy_", "log_normal_"):
        ours, theirs = draws(name, "float64", 70_000)
        assert (ours != theirs).any() and close(name, "float64", 70_000)
        assert close(name, "float16", 70_000)


@claims(
    "Orders that mathematics leaves open (of equal elements in `topk`, `kthvalue`, `median`, `mode`, and in a `sort` "
    "that is not stable) may be others; so may the signs of singular vectors."
)
def open_orders():
    for name, arguments in (("topk", (3,)), ("kthvalue", (5,)), ("median", (0,)), ("mode", ()), ("sort", ())):
        ours, theirs = (
            getattr(L.tensor([3.0, 1, 3, 2, 1] * 50), name)(*arguments) for L in (vistorch, torch)
        )
        assert ours.values.tolist() == theirs.values.tolist()
    numbers = [[1.0, 2, 3], [4, 5, 7], [0, 2, 8]]
    (ours, _, right), (theirs, _, others) = (L.linalg.svd(L.tensor(numbers)) for L in (vistorch, torch))
    assert abs(abs(ours.numpy()) - abs(theirs.numpy())).max() < 1e-5
    assert abs(abs(right.numpy()) - abs(others.numpy())).max() < 1e-5


@claims("Half precision is computed in single precision and rounded once.")
@claims("PyTorch rounds on the way in `grid_sample`, in `matrix_exp` and elsewhere.")
def half_precision():
    worst = {}
    for L in (vistorch, torch):
        L.manual_seed(0)
        x, at, square = L.randn(1, 2, 6, 6), L.rand(1, 6, 6, 2) * 2 - 1, L.randn(4, 6, 6)
        for name, run, given in (
            ("grid_sample", lambda *a, L=L: L.nn.functional.grid_sample(*a, align_corners=False), (x, at)),
            ("matrix_exp", L.linalg.matrix_exp, (square,)),
        ):
            half = [t.to(L.bfloat16) for t in given]
            exact = run(*[t.double() for t in half])
            worst[L, name] = ((run(*half).double() - exact).abs() / exact.abs().max()).max().item()
    for name in ("grid_sample", "matrix_exp"):
        assert worst[vistorch, name] < 2**-8 and not worst[torch, name] < 2**-8, worst


@claims(
    "Bessel functions are exact to the last digits, where PyTorch's `bessel_j0` and `bessel_y1` have six."
)
def bessel_functions():
    at = np.linspace(0.5, 12, 60)
    turn = np.linspace(0, 2 * np.pi, 257)[:-1]
    exact = np.cos(at[:, None] * np.sin(turn)).mean(1)
    off, wronskian = [], []
    for L in (vistorch, torch):
        j0, j1, y0, y1 = (
            getattr(L.special, "bessel_" + name)(L.from_numpy(at)).numpy()
            for name in ("j0", "j1", "y0", "y1")
        )
        off.append(abs(j0 - exact).max())
        wronskian.append(abs(j1 * y0 - exact * y1 - 2 / (np.pi * at)).max())
    assert off[0] < 1e-14 and 1e-8 < off[1] < 1e-6
    assert wronskian[0] < 1e-14 and 1e-9 < wronskian[1] < 1e-6


@claims("Derivatives in a direction of `cholesky_inverse` and `logcumsumexp` are exact to the last digits.")
@claims("Where elements are small, PyTorch's have fewer.")
def derivatives_in_a_direction():
    x, t = np.array([-20.0, -19.0, 2.0]), np.array([1.0, -2.0, 0.5])
    factor, step = np.array([[1e-3, 0.0], [2.0, 1.0]]), np.array([[1.0, 0.0], [-1.0, 2.0]])
    # of (L L')^-1 in closed form: -A dA A, where A is [[l, m], [m, n]] / d with the entries of L L'
    (a, _), (b, c) = factor
    p, q, r = a * a, a * b, b * b + c * c
    (da, _), (db, dc) = step
    dp, dq, dr = 2 * a * da, da * b + a * db, 2 * (b * db + c * dc)
    size, change = (a * c) ** 2, 2 * a * c * (da * c + a * dc)
    exact = {
        "logcumsumexp": (np.exp(x) * t).cumsum() / np.exp(x).cumsum(),
        "cholesky_inverse": (np.array([[dr, -dq], [-dq, dp]]) * size - np.array([[r, -q], [-q, p]]) * change)
        / size**2,
    }
    for name, right in exact.items():
        off = []
        for L in (vistorch, torch):
            call = (lambda v, L=L: L.logcumsumexp(v, 0)) if name == "logcumsumexp" else L.cholesky_inverse
            at, along = (x, t) if name == "logcumsumexp" else (factor, step)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # PyTorch's own, of torch.jit
                found = L.func.jvp(call, (L.from_numpy(at),), (L.from_numpy(along),))[1].numpy()
            off.append(abs(found / right - 1).max())
        assert off[0] < 1e-12 and 1e-9 < off[1], (name, off)


@claims(
    "`as_strided_scatter` has the gradient of what it does: an element that was written over has none, one that stayed "
    "has its own."
)
@claims("PyTorch has it the other way round.")
def strided_scatter():
    found, by_steps = [], []
    for L in (vistorch, torch):
        x = L.tensor([1.0, 2.0, 3.0], dtype=L.float64, requires_grad=True)
        run = lambda x, L=L: (L.as_strided_scatter(x, L.zeros(2, dtype=L.float64), (2,), (1,)) * 5).sum()  # noqa: E731
        found.append(L.autograd.grad(run(x), x)[0].tolist())
        steps = L.eye(3, dtype=L.float64)
        by_steps.append([(run(x.detach() + one) - run(x.detach())).item() for one in steps])
    assert by_steps == [[0.0, 0.0, 5.0]] * 2 and found == [[0.0, 0.0, 5.0], [5.0, 5.0, 0.0]]


@claims("`linear_cross_entropy` has the same second derivative with every option.")
@claims("PyTorch's chunks have zeros.")
def second_derivative_of_chunks():
    seen = []
    for L in (vistorch, torch):
        F = L.nn.functional
        options = torch.nn.modules.linear_cross_entropy_options.LinearCrossEntropyOptions(batch_chunk_size=2)
        for more in ({}, {"options": options}):
            x = (L.arange(12, dtype=L.float64).reshape(4, 3) / 7).requires_grad_()
            w = L.arange(6, dtype=L.float64).reshape(2, 3) / 5
            loss = F.linear_cross_entropy(x, w, L.tensor([0, 1, 1, 0]), **more)
            (slope,) = L.autograd.grad(loss, x, create_graph=True)
            again = (
                L.autograd.grad((slope**2).sum(), x, allow_unused=True)[0] if slope.requires_grad else None
            )
            seen.append(0.0 if again is None else again.abs().sum().item())
    assert seen[0] > 0 and abs(seen[0] - seen[1]) < 1e-12 and abs(seen[0] - seen[2]) < 1e-12 and seen[3] == 0


@claims("Norms at zero have a second derivative of zeros; PyTorch's are nan.")
def norms_at_zero():
    for order in (2, 0.5, -1):
        seen = []
        for L in (vistorch, torch):
            x = L.zeros(3, requires_grad=True)
            (slope,) = L.autograd.grad(L.linalg.norm(x, order), x, create_graph=True)
            seen.append(L.autograd.grad(slope.sum(), x)[0].isnan().any().item())
        assert seen == [False, True]


@claims("`Tensor.set_` cannot make a storage longer.")
def longer_storage():
    def run(L):
        x = L.ones(2)
        x.set_(x.untyped_storage(), 0, (10,), (1,))
        assert x.shape == (10,)

    assert message(run, vistorch) == "RuntimeError: Trying to resize storage that is not resizable"
    run(torch)


@claims("A view that takes other memory is no longer a view.")
def no_view():
    seen = []
    for L in (vistorch, torch):
        base = L.ones(4)
        view = base[:2]
        view.set_(L.zeros(2))
        seen.append(view._base is base)
    assert seen == [False, True]


@claims("Where a graph would be needed, it raises at once, not in the backward pass.")
def set_needs_a_graph():
    for L in (vistorch, torch):
        y = L.ones(4, requires_grad=True) * 2
        assert bool(message(y.set_, L.zeros(2))) is (L is vistorch)
    assert "set_" in message(y.sum().backward) or "not implemented" in message(y.sum().backward)


@claims("A missing or unknown argument raises TypeError in Python's words.")
def arguments():
    assert (
        message(vistorch.add, vistorch.ones(1))
        == "TypeError: add() missing 1 required positional argument: 'other'"
    )
    assert message(torch.add, torch.ones(1)).startswith("TypeError: add() received an invalid combination")
    assert message(vistorch.ones(1).sum, f=2) == "TypeError: sum() got an unexpected keyword argument 'f'"
    assert message(torch.ones(1).sum, f=2).startswith("TypeError: sum() received an invalid combination")


@claims(
    "`Variable(x, volatile=True)` warns as PyTorch does, and acts as it once did: nothing computed from "
    "`x` is recorded."
)
@claims("In PyTorch it no longer has an effect.")
def volatile():
    seen = []
    for L in (vistorch, torch):
        weight = L.ones(2, requires_grad=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            x = L.autograd.Variable(L.ones(2), volatile=True)
        seen.append((str(caught[0].message).replace("vistorch", "torch"), (weight * x).requires_grad))
    assert seen[0][0] == seen[1][0] and [one for _, one in seen] == [False, True]
    del x
    gc.collect()
    vistorch.ones(1) * 2  # what listens for volatile tensors ends at the next op after the last of them


@claims(
    "`x.volatile` is the flag, true of what was computed from a volatile tensor, and can be set; in "
    "PyTorch it is always False."
)
@claims("`x.creator` is `grad_fn`, and `previous_functions` lists a leaf as the variable itself.")
def old_flags():
    flags = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for L in (vistorch, torch):
            x = L.ones(2)
            x.volatile = True
            flags.append(((x * 2).volatile, x.volatile, L.ones(2).volatile))
        x = vistorch.ones(2, requires_grad=True)
        y = x * 2
        assert y.creator is y.grad_fn and y.creator.previous_functions[0][0] is x
    assert flags == [(True, True, False), (False, False, False)]
    assert not hasattr(torch.ones(2), "creator")
    gc.collect()
    vistorch.ones(1) * 2


@claims(
    "Old-style `Function` objects, whose `forward(self, ...)` and `backward(self, ...)` are not static, "
    "run with one warning for each class: an instance is called, and sees plain tensors."
)
@claims("They are differentiable once.")
@claims("PyTorch refuses them.")
def old_functions():
    def result(L):
        class Old(L.autograd.Function):
            def forward(self, x):
                assert not x.requires_grad
                return x * 2

            def backward(self, g):
                return g * 2

        x = L.ones(2, requires_grad=True)
        (slope,) = L.autograd.grad(Old()(x).sum(), x, create_graph=True)
        return slope.tolist(), message(slope.sum().backward)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        slope, refused = result(vistorch)
    assert len(caught) == 1 and slope == [2.0, 2.0] and "differentiable only once" in refused
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert "Legacy autograd function" in message(result, torch)


@claims("Attention has a second derivative; PyTorch's fused kernel has none.")
def attention():
    def run(L):
        L.manual_seed(0)
        q = L.randn(1, 2, 3, 4, requires_grad=True, dtype=L.float64)
        result = L.nn.functional.scaled_dot_product_attention(q, q, q)
        (slope,) = L.autograd.grad(result.pow(2).sum(), q, create_graph=True)
        return L.autograd.grad(slope.sum(), q)[0]

    assert run(vistorch).abs().sum() > 0
    assert "is not implemented" in message(run, torch)


@claims("A complex convolution is one `ConvolutionBackward0`.")
def complex_convolution():
    seen = []
    for L in (vistorch, torch):
        x, w = (L.ones(1, 1, n, dtype=L.complex64, requires_grad=True) for n in (4, 2))
        seen.append(
            [node.name() for node in nodes(L.nn.functional.conv1d(x, w))].count("ConvolutionBackward0")
        )
    assert seen[0] == 1 and seen[1] > 1
