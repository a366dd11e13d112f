"""`Variable(x, volatile=True)`: what the test loops of old programs relied on, and that it costs others nothing."""

import gc

import pytest

import vistorch
import vistorch.nn.functional as F
from vistorch import nn
from vistorch.autograd import Variable, volatile
from vistorch.engine.base.events import listeners

SENTENCE = r"^volatile was removed and now has no effect\. Use `with vistorch\.no_grad\(\):` instead\.$"


@pytest.fixture(autouse=True)
def nobody_left():
    """Each test begins and ends with nobody listening."""
    assert listeners.op is None
    yield
    gc.collect()
    vistorch.ones(1) * 2
    assert listeners.op is None and listeners.write is None and not volatile._alive


def made(*sizes):
    with pytest.warns(UserWarning, match=SENTENCE) as caught:
        x = Variable(vistorch.randn(*sizes), volatile=True)
    assert caught[0].filename == __file__
    return x


W = vistorch.ones(3, 3, requires_grad=True)
USES = {
    "product": lambda x: x @ W,
    "second": lambda x: W @ x.t(),
    "view": lambda x: x.view(-1)[:3] * W,
    "number": lambda x: x[0, 1] * W,
    "types": lambda x: x.double() @ W.double(),
    "list": lambda x: vistorch.cat([x, W]),
    "parts": lambda x: vistorch.split(x @ W, 1)[1],
    "several": lambda x: (x @ W).max(1).values,
    "chain": lambda x: F.log_softmax(F.relu(F.linear(x, W)).clone().t().contiguous(), 1),
    "where": lambda x: vistorch.where(x > 0, W[:2], x),
    "lstm": lambda x: nn.LSTM(3, 4)(x.unsqueeze(0))[0],
    "function": lambda x: Product.apply(x, W),
    "loss": lambda x: F.nll_loss(nn.LogSoftmax(1)(x @ W), vistorch.tensor([0, 2])),
}


class Product(vistorch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a @ b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g @ b.t(), a.t() @ g


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_nothing_is_recorded(use):
    x = made(2, 3)
    y = use(x)
    assert not x.requires_grad and not y.requires_grad and y.grad_fn is None
    assert volatile.is_volatile(y)
    with pytest.raises(RuntimeError, match="does not require grad"):
        y.sum().backward()
    assert use(vistorch.ones(2, 3)).requires_grad  # at the same time, others are recorded


def test_in_place():
    x = made(2, 3)
    x[0].mul_(W[0])
    x.add_(W[:2])
    x[:, 1] = W[0, 0]
    assert not x.requires_grad and x.grad_fn is None and not x[0].requires_grad
    assert not vistorch.zeros(2, 3).copy_(x @ W).requires_grad


def test_a_loop_of_training_and_testing():
    vistorch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(), nn.Linear(8, 2), nn.LogSoftmax(1)
    )
    optimizer = vistorch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        model.train()
        x, target = Variable(vistorch.randn(6, 4)), Variable(vistorch.arange(6) % 2)
        optimizer.zero_grad()
        F.nll_loss(model(x), target).backward()
        optimizer.step()
        model.eval()
        x = made(6, 4)
        output = model(x)
        assert not output.requires_grad
        expected = model(x.data)
        assert expected.requires_grad and vistorch.equal(output, expected)


def test_on_several_devices():
    vistorch.cuda.simulate(2)
    try:
        model = nn.DataParallel(nn.Linear(3, 2).cuda())
        assert not model(made(4, 3).cuda()).requires_grad
        assert model(vistorch.ones(4, 3).cuda()).requires_grad
    finally:
        vistorch.cuda.simulate(None)


def test_the_listener_leaves():
    x = made(2)
    assert listeners.op is not None
    y = x * 2
    del x
    (vistorch.ones(1) * 2,)
    assert listeners.op is not None  # `y` is volatile too
    del y
    vistorch.ones(1) * 2
    assert listeners.op is None
    again = made(2)
    assert listeners.op is not None and volatile.is_volatile(again + 1)


def test_what_is_not_asked_for():
    assert Variable(vistorch.ones(1), requires_grad=True, volatile=False).requires_grad
    x = made(1)
    assert (Variable(x, requires_grad=True) * 2).requires_grad
