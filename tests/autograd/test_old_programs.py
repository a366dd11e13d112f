"""Programs as the first PyTorch's chapters on autograd and extending had them: flags, `.creator`, old Functions."""

import gc
import warnings

import numpy as np
import pytest

import vistorch
from vistorch import nn
from vistorch.autograd import Function, Variable, gradcheck, volatile
from vistorch.autograd.function import InplaceFunction
from vistorch.engine.base import warn_once

pytestmark = pytest.mark.filterwarnings("ignore:.*(old-style|volatile|creator).*:UserWarning")


@pytest.fixture(autouse=True)
def nothing_volatile():
    """Each test ends without a volatile tensor."""
    yield
    gc.collect()
    vistorch.ones(1) * 2
    assert not volatile._alive


def variable(*sizes, **options):
    return Variable(vistorch.randn(*sizes).double(), requires_grad=True, **options)


class Linear(Function):
    def forward(self, input, weight, bias=None):
        self.save_for_backward(input, weight, bias)
        output = input.mm(weight.t())
        if bias is not None:
            output += bias.unsqueeze(0).expand_as(output)
        return output

    def backward(self, grad_output):
        input, weight, bias = self.saved_tensors
        grad_input = grad_weight = grad_bias = None
        if self.needs_input_grad[0]:
            grad_input = grad_output.mm(weight)
        if self.needs_input_grad[1]:
            grad_weight = grad_output.t().mm(input)
        if bias is not None and self.needs_input_grad[2]:
            grad_bias = grad_output.sum(0).squeeze(0)
        return grad_input, grad_weight, grad_bias


class Scaled(Function):
    def __init__(self, by):  # as most were written, without the base's
        self.by = by

    def forward(self, input):
        self.count = input.numel()
        return vistorch.from_numpy(input.numpy() * self.by * self.count)

    def backward(self, grad_output):
        return vistorch.from_numpy(grad_output.numpy() * self.by * self.count)


class Halves(Function):
    def forward(self, input, at):
        first, second = input[:at].exp(), input[at:] * 3
        rank = input.argsort()
        self.mark_non_differentiable(rank)
        self.save_for_backward(first)
        return first, second, rank

    def backward(self, grad_first, grad_second, grad_rank):
        (first,) = self.saved_tensors
        assert not first.requires_grad
        return vistorch.cat([grad_first * first, grad_second * 3]), None


class Cleared(InplaceFunction):
    def forward(self, input):
        output = input if self.inplace else input.clone()
        if self.inplace:
            self.mark_dirty(input)
        output.clamp_(min=0).mul_(2)
        self.save_for_backward(output)
        return output

    def backward(self, grad_output):
        (output,) = self.saved_tensors
        return grad_output * 2 * (output > 0).type_as(grad_output)


CHECKED = {
    "linear": (Linear, (4, 3), (5, 3), (5,)),
    "attributes": (lambda: Scaled(1.5), (2, 3)),
    "several": (lambda: lambda x: Halves()(x, 2)[:2], (5,)),
    "copying": (Cleared, (6,)),
    "writing": (lambda: lambda x: Cleared(True)(x.clone()), (6,)),
}


@pytest.mark.parametrize("make, sizes", [(one[0], one[1:]) for one in CHECKED.values()], ids=CHECKED)
def test_gradients_are_those_of_finite_differences(make, sizes):
    vistorch.manual_seed(0)
    assert gradcheck(make(), tuple(variable(*size) for size in sizes), eps=1e-6, atol=1e-4)


def test_an_argument_may_be_left_out_or_need_no_gradient():
    x, weight = Variable(vistorch.randn(4, 3)), Variable(vistorch.randn(5, 3), requires_grad=True)
    Linear()(x, weight, None).sum().backward()
    assert x.grad is None and vistorch.allclose(weight.grad, x.sum(0).expand(5, 3))
    assert not Linear()(x, weight.detach()).requires_grad


def test_a_layer_trains_with_it():
    class Layer(nn.Module):
        def __init__(self, inputs, outputs):
            super().__init__()
            self.weight = nn.Parameter(vistorch.Tensor(outputs, inputs).uniform_(-0.1, 0.1))
            self.bias = nn.Parameter(vistorch.Tensor(outputs).uniform_(-0.1, 0.1))
            self.function = Linear()  # the same instance in every step

        def forward(self, input):
            return self.function(input, self.weight, self.bias)

    vistorch.manual_seed(0)
    old, new = Layer(3, 2), nn.Linear(3, 2)
    new.load_state_dict(old.state_dict())
    x = Variable(vistorch.randn(8, 3))
    for layer in (old, new):
        optimizer = vistorch.optim.SGD(layer.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            layer(layer(x)[:, [0, 1, 0]]).pow(2).mean().backward()
            optimizer.step()
    assert vistorch.allclose(old.weight, new.weight) and vistorch.allclose(old.bias, new.bias)


def test_each_call_keeps_what_the_instance_held():
    f, x, longer = Scaled(2.0), variable(2), variable(5)
    first, second = f(x), f(longer)
    assert f.count == 5 and second.creator is f and first.creator is not f and first.creator.count == 2
    (first.sum() + second.sum()).backward()
    assert x.grad.tolist() == [4.0] * 2 and longer.grad.tolist() == [10.0] * 5


def test_what_is_written_into_is_the_argument():
    leaf = variable(4)
    x = leaf.clone()
    assert Cleared(True)(x) is x and isinstance(x.creator, Cleared)
    with pytest.raises(RuntimeError, match="leaf Variable"):
        Cleared(True)(leaf)
    saved = leaf.clone()
    result = Linear()(saved.view(1, 4), variable(1, 4))
    saved.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()


def test_once_and_not_twice():
    x = variable(3)
    (slope,) = vistorch.autograd.grad(Scaled(2.0)(x).pow(2).sum(), x, create_graph=True)
    assert vistorch.allclose(slope, 72 * x)
    with pytest.raises(RuntimeError, match="differentiable only once"):
        slope.sum().backward()


@pytest.mark.parametrize(
    "error, sentence, bad",
    [
        (TypeError, "takes no keyword", lambda x: Linear()(input=x)),
        (TypeError, r"Listed\.forward must return a tensor", lambda x: Listed()(x)),
        (RuntimeError, r"incorrect number of gradients \(expected 1, got 0\)", lambda x: Few()(x).backward()),
        (NotImplementedError, "backward", lambda x: Half()(x).sum().backward()),
    ],
)
def test_bad_use(error, sentence, bad):
    with pytest.raises(error, match=sentence):
        bad(variable(2))


class Listed(Function):
    def forward(self, x):
        return x.tolist()


class Few(Function):
    def forward(self, x):
        return x.sum()

    def backward(self, g):
        return ()


class Half(Function):
    def forward(self, x):
        return x * 2


def test_one_warning_for_each_class():
    class Same(Function):
        def forward(self, x):
            return x.clone()

        def backward(self, g):
            return g

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            Same()(variable(2)).sum().backward()
    assert len(caught) == 1 and caught[0].filename == __file__
    assert str(caught[0].message).startswith("Same is an old-style Function")


def test_numpy_in_both_directions():
    class Spectrum(Function):
        def forward(self, input):
            return vistorch.DoubleTensor(np.abs(np.fft.rfft2(input.numpy())))

        def backward(self, grad_output):
            return vistorch.DoubleTensor(np.fft.irfft2(grad_output.numpy()))

    x = variable(8, 8)
    result = Spectrum()(x)
    result.backward(vistorch.randn(result.size()).double())
    assert result.size() == (8, 5) and x.grad.size() == x.size()


def test_creator():
    warn_once._given.discard("creator is called grad_fn today.")
    x = Variable(vistorch.ones(2, 2), requires_grad=True)
    with pytest.warns(UserWarning, match="creator is called grad_fn today"):
        assert x.creator is None
    y = x + 2
    z = y * y * 3
    assert y.creator is y.grad_fn and z.creator.name() == "MulBackward0"
    assert z.creator.previous_functions[0][0].previous_functions[0][0] is y.creator
    assert y.creator.previous_functions[0] == (x, 0)
    f = Linear()
    out = f(x, y)
    assert out.creator is f and f.previous_functions[0][0] is x and f.previous_functions[1][0] is y.creator
    assert (out * 2).creator.previous_functions[0][0] is f
    z.mean().backward()
    assert vistorch.equal(x.grad, vistorch.full((2, 2), 4.5))
    x.creator = "the author"  # a program's own attribute
    assert x.creator == "the author"


def test_volatile_is_a_flag_that_spreads():
    model = nn.Sequential(nn.Linear(5, 3), nn.ReLU(), nn.Linear(3, 2))
    regular, unrecorded = Variable(vistorch.randn(2, 5)), Variable(vistorch.randn(2, 5), volatile=True)
    assert model(regular).requires_grad and not model(regular).volatile
    result = model(unrecorded)
    assert not result.requires_grad and result.volatile and result.creator is None
    assert (regular + unrecorded).volatile and Linear()(unrecorded, model[0].weight).volatile
    regular.volatile = True
    assert regular.volatile and not model(regular).requires_grad
    regular.volatile = unrecorded.volatile = False
    assert not regular.volatile and model(regular).requires_grad
    with pytest.warns(UserWarning, match="volatile was removed"):
        regular.volatile = False


@pytest.mark.parametrize("shape", [(), (2,)])
def test_retain_variables_is_retain_graph(shape):
    x = vistorch.ones(shape, requires_grad=True)
    y = x * x
    for _ in range(2):
        with pytest.warns(FutureWarning, match="old name of `retain_graph`"):
            y.backward(vistorch.ones(shape), retain_variables=True)
    with pytest.warns(FutureWarning, match="old name of `retain_graph`"):
        vistorch.autograd.backward(y, vistorch.ones(shape), retain_variables=False)
    assert x.grad.sum() == 6 * x.numel()
    with pytest.raises(RuntimeError, match="a second time"):
        y.backward(vistorch.ones(shape))
    with pytest.warns(FutureWarning), pytest.raises(TypeError, match="one argument"):
        (x * x).sum().backward(retain_graph=True, retain_variables=True)
