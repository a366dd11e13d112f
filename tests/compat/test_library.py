"""`library` and `ops`: operators of one's own, in both libraries."""

import typing

import pytest

from tests.ops.library import L, torch
from tests.story import story

NUMBER = iter(range(10**6))


def fresh():
    """A namespace that nothing was registered in."""
    return f"vt_test_{next(NUMBER)}"


def attempt(report, name, do):
    try:
        report(name, do())
    except Exception as error:
        text = (
            str(error).splitlines()[0].split(" (with implementation")[0].split(" Duplicate registration")[0]
        )
        report(name, f"{type(error).__name__}: {text}")


@story
def test_an_operator_with_a_formula(L, report):
    space = "vt_story_formula"

    def cube(x: L.Tensor, by: float = 1.0) -> L.Tensor:
        return L.from_numpy(x.detach().numpy() ** 3) * by

    op = L.library.custom_op(f"{space}::cube", cube, mutates_args=())
    report("text", f"{op} {op._opoverload} {getattr(L.ops, space).cube}")
    x = L.tensor([1.0, 2.0], requires_grad=True)
    report("forward", op(x))
    report("node", type(op(x).grad_fn).__name__)
    attempt(report, "no formula", lambda: op(x).sum().backward())

    def keep(ctx, inputs, output):
        ctx.save_for_backward(inputs[0], output)
        ctx.by = inputs[1]
        report("needs", list(ctx.needs_input_grad)[:2])

    op.register_autograd(
        lambda ctx, g: (3 * ctx.by * g * ctx.saved_tensors[0] ** 2, None), setup_context=keep
    )
    getattr(L.ops, space).cube(x, by=0.5).sum().backward()
    report("gradient", x.grad)
    x.grad = None
    getattr(L.ops, space).cube.default(x).sum().backward()
    report("again", x.grad)
    with L.no_grad():
        report("no grad", op(x).requires_grad)


@story
def test_operators_that_write(L, report):
    space = "vt_story_write"

    @L.library.custom_op(f"{space}::twice", mutates_args={"x"})
    def twice(x: L.Tensor) -> None:
        x.mul_(2)

    x = L.ones(2)
    report("result", str(twice(x)))
    report("written", x)
    report("version", x._version)
    attempt(report, "formula", lambda: twice.register_autograd(lambda ctx, g: g))

    @L.library.custom_op(f"{space}::same", mutates_args=())
    def same(x: L.Tensor) -> L.Tensor:
        return x

    attempt(report, "alias", lambda: same(x))


@story
def test_lists_and_several_results(L, report):
    space = "vt_story_lists"

    @L.library.custom_op(f"{space}::both", mutates_args=())
    def both(xs: typing.Sequence[L.Tensor], k: int) -> tuple[L.Tensor, L.Tensor]:
        return sum(xs) * k, xs[0] - xs[1]

    def backward(ctx, first, second):
        return [first * 3 + second, first * 3 - second], None

    both.register_autograd(backward)
    a, b = L.ones(2, requires_grad=True), L.full((2,), 5.0, requires_grad=True)
    total, apart = both([a, b], 3)
    (total * 2 + apart).sum().backward()
    report("results", [total, apart])
    report("gradients", [a.grad, b.grad])


@story
def test_a_library(L, report):
    space = "vt_story_library"
    own = L.library.Library(space, "DEF")
    report("name", own.define("scaled(Tensor x, *, float by=1.5) -> Tensor"))
    call = getattr(L.ops, space).scaled
    own.impl("scaled", lambda x, *, by=1.5: x * by, "CPU")
    report("default", call(L.ones(2)))
    report("given", call(L.ones(2), by=3.0))
    own.define("composite(Tensor x) -> Tensor")
    own.impl("composite", lambda x: x * x, "CompositeImplicitAutograd")
    x = L.tensor([3.0], requires_grad=True)
    getattr(L.ops, space).composite(x).backward()
    report("recorded", x.grad)
    attempt(report, "twice", lambda: own.define("scaled(Tensor x) -> Tensor"))
    attempt(report, "kind", lambda: L.library.Library(space, "OTHER"))
    attempt(report, "reserved", lambda: L.library.Library("prim", "DEF"))
    attempt(report, "no function", lambda: own.impl("scaled", 3, "CPU"))
    L.library.define(f"{space}::later", "(Tensor x) -> Tensor")
    L.library.impl(f"{space}::later", "default", lambda x: x + 1)
    report("later", getattr(L.ops, space).later(L.zeros(2)))


@story
def test_bad_calls(L, report):
    space = "vt_story_calls"

    def scaled(x: L.Tensor, k: int = 2, s: str = "a") -> L.Tensor:
        return x * k

    f = L.library.custom_op(f"{space}::scaled", scaled, mutates_args=())
    x = L.ones(2)
    attempt(report, "too many", lambda: f(x, 1, "b", 2))
    attempt(report, "none", lambda: f())
    attempt(report, "type", lambda: f("a"))
    attempt(report, "int", lambda: f(x, k="a"))
    attempt(report, "str", lambda: f(x, 1, 2))
    attempt(report, "unknown", lambda: f(x, z=1))
    attempt(report, "no operator", lambda: getattr(L.ops, space).nope)
    attempt(
        report,
        "no operator registered",
        lambda: L.library.register_autograd(f"{space}::nope", lambda c, g: g),
    )


class Kind:
    """No type of a schema."""


def signatures(T):
    def all_of_them(
        a: T.Tensor,
        b: typing.Optional[T.Tensor],  # noqa: UP045
        c: typing.Sequence[int],
        d: float = 1.0,
        *,
        e: bool = True,
        f: str = "x",
        h: T.dtype = T.float32,
        i: typing.Union[int, float, bool] = 3,  # noqa: UP007
        j: T.device = T.device("cpu"),  # noqa: B008
        k: typing.Optional[int] = None,  # noqa: UP045
        m: list[float],
    ) -> tuple[T.Tensor, T.Tensor]: ...

    def nothing(x: T.Tensor) -> None: ...
    def numbers(x: T.Tensor, y: list[T.Tensor]) -> list[T.Tensor]: ...
    def no_type(x) -> T.Tensor: ...
    def strange(x: Kind) -> T.Tensor: ...
    def no_result(x: T.Tensor): ...
    def many(*x: T.Tensor) -> T.Tensor: ...

    return [all_of_them, nothing, numbers, no_type, strange, no_result, many]


@pytest.mark.parametrize("at", range(7))
@pytest.mark.parametrize("written", [(), ("a",), ("x",), "unknown"], ids=str)
def test_schemas_are_inferred(at, written):
    found = []
    for T in (torch, L):
        try:
            found.append(T.library.infer_schema(signatures(T)[at], mutates_args=written, op_name="name"))
        except ValueError as error:
            found.append(f"{type(error).__name__}: {str(error)[:60]}")
    if not found[0].startswith("ValueError"):
        assert found[1] == found[0]
    else:  # PyTorch's own words go on with what it prints of a signature
        assert found[1].startswith("ValueError")


@pytest.mark.parametrize(
    "text",
    [
        "f(Tensor x) -> Tensor",
        "f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
        'f(Tensor[] xs, int[] k=[1, 2], str s="a, b") -> (Tensor, Tensor)',
        "f(Tensor? x=None, bool y=True, ScalarType z=float32) -> ()",
    ],
)
def test_schemas_are_read(text):
    from vistorch.library import parse

    read = parse(text)
    assert str(read).replace("(a0!)", "(a!)") == text
    assert str(parse(str(read))) == str(read)


@pytest.mark.parametrize("text", ["f", "f(Tensor x)", "f(x) -> Tensor", "f(Tensor x=?) -> Tensor"])
def test_what_is_no_schema_is_refused(text):
    from vistorch.library import parse

    with pytest.raises(RuntimeError, match="schema"):
        parse(text)


def test_kernels_by_device_and_autocast():
    space = fresh()

    @L.library.custom_op(f"{space}::f", mutates_args=(), device_types="cuda")
    def f(x: L.Tensor) -> L.Tensor:
        return x * 10

    with pytest.raises(NotImplementedError, match="no kernel is registered for it"):
        f(L.ones(1))
    f.register_kernel("cpu")(lambda x: x * 2)
    f.register_autocast("cpu", L.bfloat16)
    assert f(L.ones(1)).item() == 2 and f(L.ones(1)).dtype == L.float32
    with L.autocast("cpu"):
        assert f(L.ones(1)).dtype == L.bfloat16
    L.cuda.simulate(1)
    try:
        assert f(L.ones(1, device="cuda")).item() == 10
    finally:
        L.cuda.simulate(None)


def test_a_formula_with_too_few_gradients():
    space = fresh()

    @L.library.custom_op(f"{space}::f", mutates_args=())
    def f(x: L.Tensor, y: L.Tensor) -> L.Tensor:
        return x * y

    f.register_autograd(lambda ctx, g: g)
    with pytest.raises(RuntimeError, match=r"returned 1 gradients, but it has 2 arguments \(x, y\)"):
        f(L.ones(1, requires_grad=True), L.ones(1)).backward()


def test_functions_by_their_names_in_aten():
    x = L.tensor([1.0, -1.0])
    assert L.equal(L.ops.aten.relu.default(x), L.relu(x)) and L.equal(L.ops.aten.abs(x), x.abs())
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = L.ops.aten.no_such_thing
    with pytest.raises(NotImplementedError, match="custom_op"):
        L.ops.load_library("a.so")
