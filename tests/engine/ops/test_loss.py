"""Losses: warnings, graphs, what listeners find, large inputs, alignments counted one by one."""

import itertools
import warnings

import numpy as np
import pytest

import vistorch
from vistorch.engine.base.events import Listener
from vistorch.engine.core.sparse_gradient import Placed

torch = pytest.importorskip("torch")
BOTH = (vistorch, torch)
rng = np.random.default_rng(3)


def tensor(lib, array, grad=False):
    t = lib.tensor(np.asarray(array))
    return t.requires_grad_() if grad else t


def numbers(t):
    return np.asarray(t.detach().tolist())


def functional(lib):
    return lib.nn.functional


# ---- warnings ----------------------------------------------------------------------------------------------------
def said(lib, call):
    """Category and text of the warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(lib)
    return [(w.category, str(w.message).replace("vistorch", "torch")) for w in caught]


@pytest.mark.parametrize(
    "call",
    [
        lambda L: functional(L).mse_loss(L.ones(2, 3), L.ones(3)),
        lambda L: functional(L).l1_loss(L.ones(2, 3), L.ones(3)),
        lambda L: functional(L).smooth_l1_loss(L.ones(2, 3), L.ones(3)),
        lambda L: functional(L).huber_loss(L.ones(2, 3), L.ones(3)),
        lambda L: functional(L).mse_loss(L.ones(2), L.ones(2), size_average=False),
        lambda L: functional(L).cross_entropy(L.ones(2, 3), L.ones(2, dtype=L.int64), reduce=False),
        lambda L: functional(L).mse_loss(L.ones(2), L.ones(2), reduction="elementwise_mean"),
        lambda L: functional(L).kl_div(L.ones(2), L.ones(2)),
        lambda L: L.nn.MSELoss(size_average=True),
        lambda L: L.nn.NLLLoss2d(),
    ],
)
def test_warnings_are_torchs(call):
    mine, theirs = said(vistorch, call), said(torch, call)
    assert theirs
    assert mine == theirs


def test_a_warning_about_shapes_names_the_users_line():
    with pytest.warns(UserWarning, match="target size") as caught:
        functional(vistorch).mse_loss(vistorch.ones(2, 3), vistorch.ones(3))
    assert caught[0].filename == __file__


# ---- graphs ------------------------------------------------------------------------------------------------------
def shown(node):
    """The graph below a node as names in brackets."""
    if node is None:
        return "-"
    name = node.name().removeprefix("torch::autograd::").removeprefix("vistorch::autograd::")
    below = ", ".join(shown(n) for n, _ in node.next_functions)
    return f"{name}({below})" if below else name


LABELS, IMAGE_LABELS = np.array([0, 3, 1]), np.zeros((3, 2, 2), int)
GRAPHS = {
    "cross_entropy": lambda F, x, t: F.cross_entropy(x, t),
    "none": lambda F, x, t: F.cross_entropy(x, t, reduction="none"),
    "nll": lambda F, x, t: F.nll_loss(x, t),
    "mse": lambda F, x, t: F.mse_loss(x, x.detach()),
    "both": lambda F, x, t: F.mse_loss(x, x.exp()),
    "smooth": lambda F, x, t: F.smooth_l1_loss(x, x.detach()),
    "huber": lambda F, x, t: F.huber_loss(x, x.detach()),
    "l1": lambda F, x, t: F.l1_loss(x, x.detach()),
    "bce": lambda F, x, t: F.binary_cross_entropy(x.sigmoid(), x.detach().sigmoid()),
    "logits": lambda F, x, t: F.binary_cross_entropy_with_logits(x, x.detach()),
    "soft margin": lambda F, x, t: F.soft_margin_loss(x, x.detach()),
    "multi margin": lambda F, x, t: F.multi_margin_loss(x, t),
}


@pytest.mark.parametrize("label", GRAPHS)
def test_graphs_are_torchs(label):
    x = rng.standard_normal((3, 4))
    made = [GRAPHS[label](functional(L), tensor(L, x, True), tensor(L, LABELS)) for L in BOTH]
    assert shown(made[0].grad_fn) == shown(made[1].grad_fn)


def test_a_loss_of_more_dims_reads_a_view_as_in_torch():
    x = rng.standard_normal((3, 4, 2, 1, 2))
    made = [
        functional(L).cross_entropy(tensor(L, x, True), tensor(L, IMAGE_LABELS.reshape(3, 2, 1, 2)))
        for L in BOTH
    ]
    assert (
        shown(made[0].grad_fn)
        == shown(made[1].grad_fn)
        == "NllLoss2DBackward0(ViewBackward0(LogSoftmaxBackward0(AccumulateGrad)))"
    )


# ---- two ways through cross entropy ------------------------------------------------------------------------------
class Rows(Listener):
    """What a watch of a training run learns of its loss."""

    def __init__(self):
        self.received = []

    def op(self, rule, ins, consts, outs):
        self.received.append((rule.name, ins, consts, outs))


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_together_is_one_after_the_other(reduction, dtype):
    x, t = rng.standard_normal((5, 4)).astype(dtype), tensor(vistorch, np.array([0, 3, 1, 1, 2]))
    ways = []
    for listens in (False, True):
        logits = tensor(vistorch, x, True)
        if listens:
            with Rows() as rows:
                loss = functional(vistorch).cross_entropy(logits, t, reduction=reduction)
            assert [name for name, *_ in rows.received] == ["log_softmax", "nll_loss"]
        else:
            loss = functional(vistorch).cross_entropy(logits, t, reduction=reduction)
        (g,) = vistorch.autograd.grad(loss, logits, create_graph=True)
        (again,) = vistorch.autograd.grad((g * g).sum(), logits, retain_graph=True)
        logits.grad = None
        loss.backward()
        soft = loss.grad_fn.next_functions[0][0]
        ways.append((loss, g, again, logits.grad, loss.grad_fn.consts, soft.consts, loss.dtype))
    for a, b in zip(*ways, strict=True):
        if isinstance(a, vistorch.Tensor):
            np.testing.assert_allclose(numbers(a), numbers(b), rtol=1e-6)
        else:
            assert a == b


def test_a_listener_finds_logits_and_labels():
    logits, labels = tensor(vistorch, rng.standard_normal((3, 4)), True), tensor(vistorch, LABELS)
    with Rows() as rows:
        functional(vistorch).cross_entropy(logits, labels)
    soft, likely = rows.received
    assert soft[0] == "log_softmax" and soft[1][0] is logits
    assert likely[0] == "nll_loss" and likely[1][0] is soft[3][0] and likely[1][1] is labels


def test_a_saved_target_that_changed_is_an_error():
    x, t = tensor(vistorch, rng.standard_normal((3, 4)), True), tensor(vistorch, LABELS)
    loss = functional(vistorch).cross_entropy(x, t)
    t.add_(0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


# ---- a gradient that says where it is not zero ---------------------------------------------------------------------
def hooked(lib, change):
    """The gradient of logits when a hook changes that of their log-probabilities."""
    x = tensor(lib, rng_fixed.copy(), True)
    log_p = x.log_softmax(1)
    log_p.register_hook(change)
    functional(lib).nll_loss(log_p, tensor(lib, LABELS)).backward()
    return numbers(x.grad)


rng_fixed = np.random.default_rng(5).standard_normal((3, 4))


def written(g):
    g.mul_(3.0)
    g[0, 0] = 7.0


@pytest.mark.parametrize("change", [written, lambda g: g * 2, lambda g: None])
def test_hooks_may_write_into_the_gradient_of_log_probabilities(change):
    np.testing.assert_allclose(hooked(vistorch, change), hooked(torch, change), rtol=1e-12)


def tripled(sent, given):
    sent[0].mul_(3.0)


def test_a_node_hook_may_write_into_what_the_loss_sends():
    grads = []
    for lib in BOTH:
        x = tensor(lib, rng_fixed, True)
        loss = functional(lib).nll_loss(x.log_softmax(1), tensor(lib, LABELS))
        loss.grad_fn.register_hook(tripled)
        loss.backward()
        grads.append(numbers(x.grad))
    np.testing.assert_allclose(grads[0], grads[1], rtol=1e-12)


def test_several_consumers_of_log_probabilities():
    grads = []
    for lib in BOTH:
        x, t = tensor(lib, rng_fixed, True), tensor(lib, LABELS)
        log_p = x.log_softmax(1)
        log_p.retain_grad()
        loss = functional(lib).nll_loss(log_p, t) + functional(lib).nll_loss(log_p, t.flip(0)) + log_p.sum()
        loss.backward()
        grads.append((numbers(x.grad), numbers(log_p.grad)))
    for a, b in zip(*grads, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_nobody_outside_gets_an_array_with_places():
    x, t = tensor(vistorch, rng_fixed, True), tensor(vistorch, LABELS)
    loss = functional(vistorch).nll_loss(x, t)
    (g,) = vistorch.autograd.grad(loss, x, retain_graph=True)
    loss.backward()
    assert type(g._data) is type(x.grad._data) is np.ndarray
    y = x.exp()
    (g,) = vistorch.autograd.grad(functional(vistorch).nll_loss(y, t), x)
    assert type(g._data) is np.ndarray


def test_what_numpy_makes_of_places_knows_none():
    x, t = tensor(vistorch, rng_fixed, True), tensor(vistorch, LABELS)
    seen = []
    node = functional(vistorch).nll_loss(x.log_softmax(1), t).grad_fn
    g = node.rule.vjps[0](
        vistorch.engine.core.rules.RAW[0], np.ones(()), t._data, np.asarray(3.0), (3, 4), -100, 1
    )
    assert type(g) is Placed and g.at is not None
    seen += [g + 0, g * 2, -g]
    assert all(type(other) is np.ndarray for other in seen)
    assert g[:1].at is None and g.reshape(4, 3).at is None


# ---- large inputs, which go block by block -------------------------------------------------------------------------
LARGE = {
    "mse_loss": {},
    "smooth_l1_loss": {"beta": 0.7},
    "huber_loss": {"delta": 0.7},
    "soft_margin_loss": {},
    "binary_cross_entropy_with_logits": {},
}


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_large_inputs(name, reduction):
    x, y = rng.standard_normal((150, 333)), rng.random((150, 333))
    results = []
    for lib in BOTH:
        a = tensor(lib, x, True)
        loss = getattr(functional(lib), name)(a, tensor(lib, y), reduction=reduction, **LARGE[name])
        (loss * 2).sum().backward()
        results.append((numbers(loss), numbers(a.grad)))
    for mine, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-11)


def test_the_mean_over_half_precision_counts_every_target():
    x, t = np.zeros((5000, 2)), np.zeros(5000, int)
    t[0] = -100
    results = []
    for lib in BOTH:
        a = lib.tensor(x).to(lib.bfloat16).requires_grad_()
        loss = functional(lib).cross_entropy(a, tensor(lib, t))
        loss.backward()
        results.append((numbers(loss.float()), numbers(a.grad.float())))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-2)
    assert not results[0][1][0].any()
    np.testing.assert_allclose(results[0][1][1:], results[1][1][1:], rtol=2e-2)


def test_an_ignored_log_probability_may_be_infinite():
    x = np.array([[-np.inf, 0.0], [-1.0, -2.0]])
    t = np.array([-100, 1])
    assert functional(vistorch).nll_loss(tensor(vistorch, x), tensor(vistorch, t)).item() == 2.0


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_the_sign_of_no_loss(reduction):
    printed = []
    for lib in BOTH:
        t = tensor(lib, np.array([0, 1, -100]))
        log_p = lib.zeros(3, 2)
        shown_loss = functional(lib).nll_loss(log_p, t, reduction=reduction)
        certain = functional(lib).cross_entropy(
            lib.tensor([[100.0, 0.0]]), lib.tensor([0]), reduction=reduction
        )
        printed.append((str(shown_loss), str(certain)))
    assert printed[0] == printed[1]


# ---- alignments --------------------------------------------------------------------------------------------------
def counted(log_p, labels, blank):
    """The loss by looking at every path."""
    steps, classes = log_p.shape
    total = 0.0
    for path in itertools.product(range(classes), repeat=steps):
        merged = [c for c, _ in itertools.groupby(path)]
        if [c for c in merged if c != blank] == labels:
            total += np.exp(sum(log_p[t, c] for t, c in enumerate(path)))
    return -np.log(total) if total else np.inf


@pytest.mark.parametrize("labels", [[], [1], [1, 2], [1, 1], [2, 2, 1], [1, 2, 1, 2]])
@pytest.mark.parametrize("blank", [0, 2])
def test_ctc_counts_every_path(labels, blank):
    labels = [c if c != blank else 0 for c in labels]
    x = np.random.default_rng(1).standard_normal((5, 3))
    log_p = x - np.log(np.exp(x).sum(1, keepdims=True))
    loss = functional(vistorch).ctc_loss(
        vistorch.tensor(log_p),
        vistorch.tensor(labels, dtype=vistorch.int64),
        (5,),
        (len(labels),),
        blank=blank,
        reduction="none",
    )
    assert loss.item() == pytest.approx(counted(log_p, labels, blank), rel=1e-12)


def test_ctc_of_long_and_certain_sequences():
    x = np.random.default_rng(1).standard_normal((300, 3, 12)) * 40
    labels = np.random.default_rng(2).integers(1, 12, (3, 60))
    results = []
    for lib in BOTH:
        a = tensor(lib, x, True)
        loss = functional(lib).ctc_loss(
            a.log_softmax(2), tensor(lib, labels), (300, 280, 130), (60, 3, 59), reduction="none"
        )
        loss.sum().backward()
        results.append((numbers(loss), numbers(a.grad)))
    assert np.isfinite(results[1][0]).all()
    for mine, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-10)


def test_ctc_refuses_labels_that_are_no_classes():
    log_p = vistorch.zeros(4, 1, 3).log_softmax(2)
    for wrong in (3, -1):
        with pytest.raises(IndexError, match=f"Target {wrong} is out of bounds."):
            vistorch.ctc_loss(log_p, vistorch.tensor([[wrong]]), (4,), (1,))


@pytest.mark.parametrize(
    "change",
    [
        {"log_probs": "a"},
        {"targets": None},
        {"input_lengths": None},
        {"target_lengths": (1.5,)},
        {"blank": 0.5},
        {"reduction": None},
        {"zero_infinity": 1},
    ],
)
def test_ctc_refuses_other_types(change):
    errors = []
    for lib in BOTH:
        given = {
            "log_probs": lib.zeros(4, 1, 3),
            "targets": lib.tensor([[1]]),
            "input_lengths": (4,),
            "target_lengths": (1,),
            "blank": 0,
            "reduction": 1,
            "zero_infinity": False,
            **change,
        }
        with pytest.raises(TypeError) as caught:
            lib.ctc_loss(*given.values())
        errors.append(str(caught.value).splitlines()[0])
    assert errors[0].split(" - got")[0] == errors[1].split(" - got")[0]


def test_what_has_no_second_derivative_says_so():
    x = tensor(vistorch, rng.standard_normal((3, 4)), True)
    (g,) = vistorch.autograd.grad(
        functional(vistorch).multi_margin_loss(x, tensor(vistorch, LABELS)), x, create_graph=True
    )
    with pytest.raises(
        RuntimeError, match="derivative for aten::multi_margin_loss_backward is not implemented"
    ):
        g.sum().backward()


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("special", [0.0, np.nan, -np.inf])
def test_many_classes(reduction, special):
    x, t, w = (
        rng.standard_normal((200, 300)).astype("f4"),
        rng.integers(0, 300, 200),
        rng.random(300).astype("f4"),
    )
    x[5, 7], t[5] = special, 8
    grads = []
    for lib in BOTH:
        a = lib.tensor(x, requires_grad=True)
        functional(lib).cross_entropy(a, lib.tensor(t), lib.tensor(w), reduction=reduction).sum().backward()
        grads.append(a.grad.numpy())
    np.testing.assert_allclose(*grads, rtol=1e-5, atol=1e-8)
