"""gradcheck and gradgradcheck: they pass what torch's pass, refuse what torch's refuse, in the same words."""

import inspect
import warnings

import numpy as np
import pytest

import vistorch
from tests.autograd.both import torch
from tests.autograd.programs import Programs

programs = Programs()
good, bad = programs.good, programs.bad


def double(lib, values, **options):
    return lib.tensor(values, dtype=lib.float64, requires_grad=True, **options)


def wrong(lib, factor=2.0):
    """x * 2 whose backward is off by a factor."""

    class Wrong(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2 * factor

    return Wrong.apply


@good
def right(lib):
    x, y = double(lib, [[0.5, 2.0], [1.0, 3.0]]), double(lib, [1.5, 2.5])
    check = lib.autograd.gradcheck
    return (
        check(lambda a, b: (a * b).sin(), (x, y)),
        check(lambda a, b: (a * b, a.exp(), 3 * b), (x, y)),
        check(lambda a: a * a, [x]),
        check(lambda a, n, b: a * n, (x, 3, y.detach())),
        check(lambda a: a.sum(), double(lib, 2.0)),
        check(lambda a: a * 2, double(lib, [])),
        check(lambda a: a * 2, x, fast_mode=True),
        check(lambda a: (a * a)[0], x[:, :1]),
        x,
    )


@good
def right_twice(lib):
    x, y = double(lib, [[0.5, 2.0], [1.0, 3.0]]), double(lib, [1.5, 2.5])
    check = lib.autograd.gradgradcheck
    return (
        check(lambda a, b: (a * b).sin(), (x, y)),
        check(lambda a, b: (a.exp(), a * b), (x, y)),
        check(lambda a: a * a, x, lib.ones(2, 2, dtype=lib.float64, requires_grad=True)),
        check(lambda a: a.tanh(), x, gen_non_contig_grad_outputs=True),
        check(lambda a: a.tanh(), x, fast_mode=True),
    )


@good
def complex_numbers(lib):
    z = lib.tensor([0.5 + 1.0j, -2.0 + 0.3j], dtype=lib.complex128, requires_grad=True)
    x = double(lib, [1.5, 2.5])
    check = lib.autograd.gradcheck
    return (
        check(lambda a: a * a * 2j, z),
        check(lambda a: a.exp(), z),
        check(lambda a: a.abs(), z),
        check(lambda a, b: a * b, (z, x)),
        check(lambda a: a * 1j, x),
        check(lambda a: a.abs() * a, z, fast_mode=True),
        lib.autograd.gradgradcheck(lambda a: a * a, z),
        z,
    )


@good
def refused_quietly(lib):
    x = double(lib, [0.5, 2.0])
    return (
        lib.autograd.gradcheck(wrong(lib), x, raise_exception=False),
        lib.autograd.gradcheck(wrong(lib, 1 + 1e-8), x, raise_exception=False),
        lib.autograd.gradcheck(wrong(lib), x, atol=10.0),
        x,
    )


@bad("GradcheckError")
def mismatch(lib):
    lib.autograd.gradcheck(wrong(lib), double(lib, [0.5, 2.0]))


@bad("GradcheckError")
def mismatch_in_the_second_output(lib):
    x, y = double(lib, [0.5, 2.0]), double(lib, [1.0])
    lib.autograd.gradcheck(lambda a, b: (a * b, wrong(lib)(b)), (x, y))


@bad("GradcheckError")
def mismatch_of_complex(lib):
    z = lib.tensor([0.5 + 1.0j], dtype=lib.complex128, requires_grad=True)
    lib.autograd.gradcheck(wrong(lib), z)


@bad("GradcheckError")
def mismatch_of_the_second_derivative(lib):
    class Cube(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * (3 * x * x).detach()

    lib.autograd.gradcheck(Cube.apply, double(lib, [0.5, 2.0]))
    one = lib.ones(2, dtype=lib.float64, requires_grad=True)
    lib.autograd.gradgradcheck(Cube.apply, double(lib, [0.5, 2.0]), one)


@bad("GradcheckError")
def not_multiplied(lib):
    class Constant(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return lib.ones(1, dtype=lib.float64)

    lib.autograd.gradcheck(Constant.apply, double(lib, [0.5]))


@bad("GradcheckError")
def expected_zero(lib):
    lib.autograd.gradcheck(lambda a: (a * 2).detach(), double(lib, [0.5]))


@good
def really_zero(lib):
    return lib.autograd.gradcheck(lambda a: (a * 0).detach(), double(lib, [0.5]))


@bad("ValueError")
def nothing_to_check(lib):
    lib.autograd.gradcheck(lambda a: a * 2, lib.ones(2, dtype=lib.float64))


@bad("RuntimeError")
def expanded(lib):
    lib.autograd.gradcheck(lambda a: a * 2, double(lib, [1.0]).expand(3))


@bad("GradcheckError")
def single_precision(lib):
    x = lib.tensor([0.5], requires_grad=True)
    lib.autograd.gradcheck(lambda a: wrong(lib)(a), x, eps=1e-1)


@bad("AssertionError")
def nothing_asked_for(lib):
    lib.autograd.gradcheck(lambda a: a, double(lib, [1.0]), check_backward_ad=False)


test_same = programs.test()


def test_not_reentrant():
    def unsteady(lib):
        calls = []

        class Unsteady(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, g):
                calls.append(1)
                return g * (2 + 1e-9 * len(calls))

        return Unsteady.apply

    said = []
    for lib in (torch, vistorch):
        with pytest.raises(RuntimeError) as error:
            lib.autograd.gradcheck(unsteady(lib), double(lib, [1.0]))
        said.append(str(error.value).split("\n")[0].rstrip())
        assert lib.autograd.gradcheck(unsteady(lib), double(lib, [1.0]), nondet_tol=1e-6)
    assert said[0] == said[1]


def three(lib, when_one_is_missing):
    """Three outputs; the backward does something else when exactly the first gradient is missing."""

    class Three(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3, x * 4

        @staticmethod
        def backward(ctx, *gs):
            if gs[0] is None and gs[1] is not None and gs[2] is not None:
                return when_one_is_missing(gs[1])
            found = [g * n for g, n in zip(gs, (2, 3, 4), strict=True) if g is not None]
            return sum(found) if found else None

    return Three.apply


def fail(g):
    raise RuntimeError("cannot do without")


@pytest.mark.parametrize("missing", [fail, lambda g: g + 1], ids=["error", "not zero"])
def test_undefined_gradients(missing):
    said = []
    for lib in (torch, vistorch):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns that this check is new
            with pytest.raises(RuntimeError) as error:
                lib.autograd.gradcheck(three(lib, missing), double(lib, [1.0]))
        assert lib.autograd.gradcheck(three(lib, missing), double(lib, [1.0]), check_undefined_grad=False)
        said.append(str(error.value))
    assert said[0] == said[1]


def test_fast_mode_finds_a_mistake():
    with pytest.raises(RuntimeError, match="Jacobian mismatch for output 0 with respect to input 0"):
        vistorch.autograd.gradcheck(wrong(vistorch), double(vistorch, [0.5, 2.0]), fast_mode=True)


def test_inputs_keep_their_values_after_an_error():
    x = double(vistorch, [0.5, 2.0])

    def fails(a):
        if a.tolist() != [0.5, 2.0]:
            raise KeyError
        return a * 2

    with pytest.raises(KeyError):
        vistorch.autograd.gradcheck(fails, x)
    assert x.tolist() == [0.5, 2.0]


def test_random_state_stays():
    before = np.array(vistorch.get_rng_state().tolist())
    vistorch.autograd.gradgradcheck(lambda a: a * a, double(vistorch, [0.5]))
    assert (np.array(vistorch.get_rng_state().tolist()) == before).all()


def test_no_forward_mode():
    with pytest.raises(NotImplementedError, match="forward-mode"):
        vistorch.autograd.gradcheck(lambda a: a, double(vistorch, [1.0]), check_forward_ad=True)


@pytest.mark.parametrize("name", ["gradcheck", "gradgradcheck"])
def test_signatures(name):
    ours, theirs = (inspect.signature(getattr(lib.autograd, name)).parameters for lib in (vistorch, torch))
    assert [(p.name, p.default, p.kind) for p in ours.values()] == [
        (p.name, p.default, p.kind) for p in theirs.values()
    ]
