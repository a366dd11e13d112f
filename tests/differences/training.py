"""Checks of what docs/differences.md says of modules, optimizers, losses and distributions."""

import copy
import inspect
import math
import pickle
import threading
import warnings

import torch

import vistorch

from .sentences import claims, message, nodes


@claims("A state dict that does not fit changes nothing.")
@claims(
    "`load_state_dict` compares all names and shapes before it copies the first value (unless a module "
    "has load hooks); PyTorch copies what fits and raises afterwards."
)
def state_dict():
    for wrong in ("shape", "name"):
        changed = []
        for L in (vistorch, torch):
            net = L.nn.Sequential(L.nn.Linear(2, 2), L.nn.Linear(2, 3))
            before = net[0].weight.clone()
            state = {name: value + 1 for name, value in net.state_dict().items()}
            state["1.weight" if wrong == "shape" else "2.weight"] = L.ones(9)
            assert message(net.load_state_dict, state).startswith("RuntimeError")
            changed.append(not L.equal(before, net[0].weight))
        assert changed == [False, True]


@claims("`foreach`, `fused` and `capturable` are accepted and change nothing.")
def accepted():
    results = set()
    for options in ({}, {"foreach": True}, {"fused": True}, {"capturable": True}):
        p = vistorch.nn.Parameter(vistorch.arange(3.0))
        optimizer = vistorch.optim.Adam([p], lr=0.1, **options)
        p.pow(2).sum().backward()
        optimizer.step()
        results.add(tuple(p.tolist()))
    assert len(results) == 1
    assert message(torch.optim.Adam([torch.nn.Parameter(torch.ones(2))], capturable=True).step) == ""
    p = torch.nn.Parameter(torch.ones(2))
    p.sum().backward()
    assert "capturable=True" in message(torch.optim.Adam([p], capturable=True).step)


@claims("Half-precision parameters are stepped in float32 and rounded once.")
def half_steps():
    start = [0.1 * n - 0.7 for n in range(16)]
    ours, theirs, rounded = [], [], []
    for L, low, found in ((vistorch, True, ours), (torch, True, theirs), (vistorch, False, rounded)):
        value = L.tensor(start).to(L.bfloat16)
        p = L.nn.Parameter(value if low else value.float())
        optimizer = L.optim.SGD([p], lr=0.3, weight_decay=0.1)
        slope = L.tensor([math.sin(n) for n in range(16)]).to(L.bfloat16)
        p.grad = slope if low else slope.float()
        optimizer.step()
        found += p.detach().to(L.bfloat16).float().tolist()
    assert ours == rounded != theirs


@claims("A second step with `differentiable=True` works for Adamax too.")
def two_differentiable_steps():
    def run(L, name):
        w = L.ones(2, requires_grad=True)
        p = w.clone()
        optimizer = getattr(L.optim, name)([p], lr=0.1, differentiable=True)
        for slope in (0.3, 0.2):
            p.grad = L.full((2,), slope)
            optimizer.step()
        p.sum().backward()
        assert w.grad.tolist() == [1, 1]

    run(vistorch, "Adamax")
    assert message(run, torch, "Adamax").startswith("RuntimeError")
    run(torch, "SGD")


@claims("`SparseAdam` says that there are no sparse gradients.")
def sparse():
    assert "has no sparse gradients" in message(
        vistorch.optim.SparseAdam, [vistorch.nn.Parameter(vistorch.ones(2))]
    )
    assert message(torch.optim.SparseAdam, [torch.nn.Parameter(torch.ones(2))]) == ""


@claims(
    "`func.vmap` calls its function again for each sample where it looks at a tensor's memory or draws other random "
    "numbers for each."
)
def batched():
    calls: dict = {}
    for L in (vistorch, torch):

        def square(x, L=L):
            calls[L] = calls.get(L, 0) + 1
            return x * x + 0 * L.rand(())

        assert L.func.vmap(square, randomness="different")(L.arange(3.0)).tolist() == [0, 1, 4]
        calls[L, "different"] = calls.pop(L)
        assert L.func.vmap(square, randomness="same")(L.arange(3.0)).tolist() == [0, 1, 4]
    assert calls == {(vistorch, "different"): 4, (torch, "different"): 1, vistorch: 1, torch: 1}


@claims("`func.jacfwd`, `func.jvp` and `func.hessian` are computed in reverse mode.")
def forward_by_reverse():
    """Where there is no forward mode, a `Function` needs no `jvp`: PyTorch asks for it."""

    def run(L, how):
        class Cube(L.autograd.Function):
            @staticmethod
            def forward(x):
                return x**3

            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.save_for_backward(*inputs)

            @staticmethod
            def backward(ctx, g):
                return 3 * ctx.saved_tensors[0] ** 2 * g

        x = L.tensor([2.0])
        if how == "jvp":
            return L.func.jvp(Cube.apply, (x,), (L.ones(1),))[1].item()
        if how == "jacfwd":
            return L.func.jacfwd(Cube.apply)(x).item()
        return L.func.hessian(lambda x: Cube.apply(x).sum())(x).item()

    for how, value in (("jvp", 12), ("jacfwd", 12), ("hessian", 12)):
        assert run(vistorch, how) == value
        assert message(run, torch, how)


@claims("A copy of a parametrized module has a cache of its own within `parametrize.cached()`.")
def parametrized_copy():
    import torch.nn.utils.parametrize

    import vistorch.nn.utils.parametrize

    fresh = []
    for L in (vistorch, torch):
        parametrize = L.nn.utils.parametrize

        class Double(L.nn.Module):
            def forward(self, x):
                return x * 2

        net = L.nn.Linear(2, 2)
        parametrize.register_parametrization(net, "weight", Double())
        with parametrize.cached():
            assert net.weight is net.weight
            copied = copy.deepcopy(net)
            with L.no_grad():
                copied.parametrizations.weight.original.zero_()
            fresh.append(not copied.weight.any())
    assert fresh == [True, False]


@claims("`remove_spectral_norm` removes all hooks.")
def spectral_norm():
    left = []
    for L in (vistorch, torch):
        net = L.nn.Linear(2, 2)
        before = {name: len(value) for name, value in vars(net).items() if name.endswith("_hooks")}
        L.nn.utils.remove_spectral_norm(L.nn.utils.spectral_norm(net))
        left.append(
            {name: len(value) for name, value in vars(net).items() if name.endswith("_hooks")} == before
        )
    assert left == [True, False]


@claims("`Muon` leaves a bfloat16 momentum as it is.")
def muon():
    kept = []
    for L in (vistorch, torch):
        p = L.nn.Parameter(L.ones(2, 3, dtype=L.bfloat16))
        optimizer = L.optim.Muon([p], momentum=0.5, nesterov=False)
        p.grad = L.full((2, 3), 4.0, dtype=L.bfloat16)
        optimizer.step()
        kept.append(optimizer.state[p]["momentum_buffer"].float().tolist() == [[2.0] * 3] * 2)
    assert kept == [True, False]


@claims("`clip_grad_value_` accepts parameters without gradients.")
def clip():
    for L in (vistorch, torch):
        said = message(L.nn.utils.clip_grad_value_, [L.nn.Parameter(L.ones(2))], 1.0)
        assert bool(said) is (L is torch)


@claims(
    "Recurrent layers are one node for each layer and direction (`LstmBackward0`, `GruBackward0`, "
    "`RnnBackward0`), where PyTorch shows its unrolled loop or a vendor's node."
)
def recurrent():
    for kind in ("LSTM", "GRU", "RNN"):
        counts = []
        for L in (vistorch, torch):
            net = getattr(L.nn, kind)(2, 3, num_layers=2, bidirectional=True)
            names = [node.name() for node in nodes(net(L.ones(4, 1, 2))[0])]
            counts.append(names.count(f"{kind.capitalize()}Backward0"))
        assert counts == [4, 0]


@claims("`pad_packed_sequence` is one too (`PadPackedSequenceBackward0`).")
def pad_packed():
    seen = []
    for L in (vistorch, torch):
        rnn = L.nn.utils.rnn
        packed = rnn.pack_padded_sequence(L.ones(3, 2, 1, requires_grad=True), L.tensor([3, 2]))
        seen.append(rnn.pad_packed_sequence(packed)[0].grad_fn.name() == "PadPackedSequenceBackward0")
    assert seen == [True, False]


@claims(
    "`unpad_sequence` leaves its argument alone; `pack_padded_sequence` refuses a length beyond the input."
)
def unpad():
    for L in (vistorch, torch):
        rnn = L.nn.utils.rnn
        padded = L.arange(6.0).reshape(3, 2)
        rnn.unpad_sequence(padded, L.tensor([3, 2]))
        assert (tuple(padded.shape) == (3, 2)) is (L is vistorch)
        assert bool(message(rnn.pack_padded_sequence, L.ones(3, 2, 1), L.tensor([5, 2]))) is (L is vistorch)


@claims("Sparse gradients are dense here: `sparse=True` of embeddings is accepted.")
def sparse_embedding():
    sparse = []
    for L in (vistorch, torch):
        net = L.nn.Embedding(4, 2, sparse=True)
        net(L.tensor([1])).sum().backward()
        sparse.append(net.weight.grad.is_sparse)
    assert sparse == [False, True]


@claims("`embedding_bag(scale_grad_by_freq=True)` divides each row by its own count.")
def embedding_bag():
    seen = []
    for L in (vistorch, torch):
        weight = L.ones(3, 2, requires_grad=True)
        L.nn.functional.embedding_bag(
            L.tensor([0, 0, 1, 1, 1, 2]), weight, L.tensor([0, 3]), mode="sum", scale_grad_by_freq=True
        ).sum().backward()
        seen.append(weight.grad[:, 0].tolist())
    assert seen[0] == [1, 1, 1] != seen[1]


@claims("`CrossMapLRN2d` has the derivative of what its forward pass computes.")
def cross_map():
    for L in (vistorch, torch):
        x = L.tensor([[[[1.0]], [[2.0]], [[3.0]]]], dtype=L.float64, requires_grad=True)
        wrong = message(L.autograd.gradcheck, L.nn.CrossMapLRN2d(2, alpha=1.0), x)
        assert ("Jacobian mismatch" in wrong) is (L is torch)


@claims(
    "Evaluation keeps what it used: the graph of `batch_norm` in evaluation has its own copy of the "
    "running statistics."
)
def batch_norm():
    for L in (vistorch, torch):
        net = L.nn.BatchNorm1d(2).eval()
        result = net(L.ones(3, 2, requires_grad=True))
        net.running_var.mul_(4)
        said = message(result.sum().backward)
        assert ("modified by an inplace operation" in said) is (L is torch)


@claims("Losses refuse labels out of range everywhere (`ctc_loss` too, where PyTorch reads other memory).")
def labels():
    for L in (vistorch, torch):
        F = L.nn.functional
        one = L.ones(1, 3)
        assert message(F.cross_entropy, one, L.tensor([5])) == "IndexError: Target 5 is out of bounds."
        assert "out of bounds" in message(F.nll_loss, one, L.tensor([5]))
        assert "out of range" in message(F.multi_margin_loss, one, L.tensor([5]))
        assert "out of range" in message(F.multilabel_margin_loss, one, L.tensor([[5, -1, -1]]))
        rows = L.ones(4, 1, 3).log_softmax(2)
        said = message(F.ctc_loss, rows, L.tensor([[3]]), L.tensor([4]), L.tensor([1]))
        assert bool(said) is (L is vistorch)


@claims('`DataParallel(net, ["cpu"] * 4)` runs its replicas in threads, to show what happens.')
def data_parallel():
    def run(L):
        class Net(L.nn.Module):
            def forward(self, x):
                used.add(threading.get_ident())
                together.wait(timeout=20)
                return x

        return L.nn.DataParallel(Net(), ["cpu"] * 4)(L.ones(8, 2))

    used, together = set(), threading.Barrier(4)
    assert run(vistorch).shape == (8, 2) and len(used) == 4
    used, together = set(), threading.Barrier(1)
    message(run, torch)
    assert len(used) <= 1


@claims("Autocast's dtype reaches the replicas of `DataParallel`, not only whether it is on.")
def autocast_in_replicas():
    seen = []

    class Net(vistorch.nn.Module):
        def forward(self, x):
            seen.append(vistorch.get_autocast_dtype("cpu"))
            return x

    with vistorch.autocast("cpu", dtype=vistorch.float16):
        vistorch.nn.parallel.parallel_apply([Net(), Net()], [(vistorch.ones(1),)] * 2)
    assert seen == [vistorch.float16] * 2
    theirs = inspect.getsource(torch.nn.parallel.parallel_apply)  # it needs an accelerator to run
    assert "enabled=autocast_enabled" in theirs and "dtype" not in theirs


@claims(
    "Gradients of gamma samples, and the Bessel functions of `VonMises`, are exact, where PyTorch's "
    "polynomials are not."
)
def exact_gradients():
    """With 1 as its shape, the gamma distribution's function has a derivative by that shape as a short series."""
    worst, bessel = [], []
    for L in (vistorch, torch):
        L.manual_seed(0)
        shape = L.full((200,), 0.5, dtype=L.float64, requires_grad=True)
        x = L.distributions.Gamma(shape, 1.0).rsample()
        x.sum().backward()
        pairs = zip(x.tolist(), shape.grad.tolist(), strict=True)
        worst.append(
            max(abs(slope / _gamma_slope(0.5, value) - 1) for value, slope in pairs if 1e-3 < value < 3)
        )
        variance = L.distributions.VonMises(L.tensor(0.0).double(), L.tensor(2.0).double()).variance.item()
        bessel.append(abs(variance - (1 - 1.5906368546373291 / 2.2795853023360673)))
    assert worst[0] < 1e-8 < worst[1]
    assert bessel[0] < 1e-14 < bessel[1]


def _gamma_slope(a, x):
    """Return dx/da of a gamma sample: minus the cdf's derivative by `a`, by differences of its series, over the pdf."""

    def cdf(a):
        term = total = 1 / a
        for n in range(1, 80):
            term *= x / (a + n)
            total += term
        return total * math.exp(a * math.log(x) - x - math.lgamma(a))

    def difference(h):
        return (cdf(a + h) - cdf(a - h)) / (2 * h)

    slope = (4 * difference(5e-4) - difference(1e-3)) / 3
    return -slope / math.exp((a - 1) * math.log(x) - x - math.lgamma(a))


@claims(
    "`kl_divergence` broadcasts batches where PyTorch's masks do not (from `Bernoulli`, `Pareto`, `Uniform`)."
)
def divergences():
    def run(L, kind):
        d = L.distributions
        p, q = {
            "Bernoulli": lambda: (
                d.Bernoulli(L.tensor([[0.5], [0.0]])),
                d.Bernoulli(L.tensor([0.5, 0.2, 0.0])),
            ),
            "Pareto": lambda: (d.Pareto(L.tensor([[1.0], [2.0]]), L.tensor(3.0)), d.Exponential(L.ones(3))),
            "Uniform": lambda: (d.Uniform(L.zeros(2, 1), 1.0), d.Gamma(L.ones(3), 1.0)),
        }[kind]()
        return tuple(d.kl_divergence(p, q).shape)

    for kind in ("Bernoulli", "Pareto", "Uniform"):
        assert run(vistorch, kind) == (2, 3)
        assert "mask" in message(run, torch, kind)


@claims(
    "Several `Wishart` samples are differentiable, `GeneralizedPareto` works in double precision, and the"
    " inverse of a transform survives pickling."
)
def distributions():
    def wishart(L):
        matrix = L.eye(2, requires_grad=True)
        L.distributions.Wishart(3.0, covariance_matrix=matrix).rsample((3,)).sum().backward()
        assert matrix.grad.abs().sum() > 0

    def pareto(L):
        numbers = (L.tensor(value, dtype=L.float64) for value in (0.0, 1.0, 0.1))
        found = L.distributions.GeneralizedPareto(*numbers).cdf(L.tensor(0.5, dtype=L.float64))
        assert abs(found.item() - (1 - 1.05**-10)) < 1e-12

    def inverse(L):
        kept = L.distributions.transforms.ExpTransform().inv
        assert pickle.loads(pickle.dumps(kept))(L.tensor(1.0)).item() == 0

    for run in (wishart, pareto, inverse):
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # a good Wishart sample is taken for a singular one, as in PyTorch
            run(vistorch)
            assert message(run, torch)
