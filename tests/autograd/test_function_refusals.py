"""What custom functions may not do."""

import warnings

import pytest

import vistorch
from tests.autograd.functions import made, square
from tests.autograd.programs import Programs, leaf

programs = Programs()
bad = programs.bad


@bad("TypeError")
def saving_a_number(lib):
    def forward(ctx, x):
        ctx.save_for_backward(x, 3)
        return x * 2

    made(lib, forward, lambda ctx, g: g).apply(leaf(lib, 1.0))


@bad("TypeError")
def saving_an_array(lib):
    import numpy as np

    def forward(ctx, x):
        ctx.save_for_backward(np.ones(2))
        return x * 2

    made(lib, forward, lambda ctx, g: g).apply(leaf(lib, 1.0))


@bad("RuntimeError")
def too_few_gradients(lib):
    made(lib, lambda ctx, x, y: x * y, lambda ctx, g: g).apply(leaf(lib, 1.0), leaf(lib, 1.0)).backward()


@bad("RuntimeError")
def too_many_gradients(lib):
    made(lib, lambda ctx, x: x * 1, lambda ctx, g: (g, g)).apply(leaf(lib, 1.0)).backward()


@bad("RuntimeError")
def gradient_of_a_number(lib):
    made(lib, lambda ctx, k, x: x * k, lambda ctx, g: (g, g)).apply(2, leaf(lib, 1.0)).backward()


@bad("RuntimeError")
def gradient_is_no_tensor(lib):
    made(lib, lambda ctx, x: x * 1, lambda ctx, g: 3).apply(leaf(lib, 1.0)).backward()


@bad("RuntimeError")
def gradient_of_wrong_shape(lib):
    made(lib, lambda ctx, x: x * 1, lambda ctx, g: lib.ones(3)).apply(leaf(lib, 1.0, 2.0)).sum().backward()


@bad("RuntimeError")
def gradient_too_small(lib):
    made(lib, lambda ctx, x: x * 1, lambda ctx, g: lib.ones(1)).apply(leaf(lib, 1.0, 2.0)).sum().backward()


@bad("ZeroDivisionError")
def error_in_backward(lib):
    made(lib, lambda ctx, x: x * 1, lambda ctx, g: 1 / 0).apply(leaf(lib, 1.0)).backward()


@bad("ZeroDivisionError")
def error_in_forward(lib):
    made(lib, lambda ctx, x: 1 / 0, lambda ctx, g: g).apply(leaf(lib, 1.0))


@bad("RuntimeError")
def instance_called(lib):
    F = square(lib)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f = F()
    f(leaf(lib, 1.0))


@bad("NotImplementedError")
def no_forward(lib):
    class Nothing(lib.autograd.Function):
        pass

    Nothing.apply(leaf(lib, 1.0))


@bad("NotImplementedError")
def no_backward(lib):
    class Nothing(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    Nothing.apply(leaf(lib, 1.0)).backward()


@bad("RuntimeError")
def both_names_of_backward(lib):
    F = made(lib, lambda ctx, x: x * 1, lambda ctx, g: g, vjp=staticmethod(lambda ctx, g: g))
    F.apply(leaf(lib, 1.0)).backward()


@bad("RuntimeError")
def apart_input_saved_as_is(lib):
    class F(lib.autograd.Function):
        @staticmethod
        def forward(x):
            return x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(inputs[0])

        @staticmethod
        def backward(ctx, g):
            return g

    F.apply(leaf(lib, 1.0))


test_same = programs.test()


def test_instantiation_warns():
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        square(vistorch)()


def test_jvp_and_vmap_say_that_they_are_not_there():
    F = square(vistorch)
    with pytest.raises(NotImplementedError, match="jvp function for custom"):
        F.jvp(None)
    with pytest.raises(NotImplementedError, match="vmap"):
        F.vmap(None, None)
    with pytest.raises(TypeError, match="takes no keyword arguments"):
        F.apply(x=vistorch.ones(1))


def test_gradient_on_another_device():
    x = leaf(vistorch, 1.0)
    vistorch.cuda.simulate(1)
    try:
        y = made(vistorch, lambda ctx, x: x * 1, lambda ctx, g: g.to("cuda")).apply(x)
        with pytest.raises(RuntimeError) as error:
            y.backward()
        assert str(error.value) == (
            "Function MadeBackward returned an invalid gradient at index 0 - expected device cpu but got cuda:0"
        )
        with pytest.raises(
            RuntimeError, match=r"^invalid gradient at index 0 - expected device cpu but got cuda:0$"
        ):
            (x * 2).backward(vistorch.ones(1, device="cuda"))
    finally:
        vistorch.cuda.simulate(None)
