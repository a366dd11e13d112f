"""The functions generated for rows against `record`, for every row and every choice of inputs that require grad."""

import itertools
import traceback

import numpy as np
import pytest

import vistorch as L
from vistorch.engine.core import node_maker
from vistorch.engine.core.graph import IN, OUT, Leaf, Out, leaf_of
from vistorch.engine.core.record import record, unpack_raw
from vistorch.engine.core.rules import TABLE, variant
from vistorch.engine.core.tensor import wrap

ROWS = [rule for rule in TABLE.values() if any(rule.vjps)]


def operands(rule, wanted, number=None):
    """Inputs of which some require grad (every other one with history), constants, and two outputs at least."""
    ins = []
    for i, needed in enumerate(wanted):
        t = L.ones(2, 3, dtype=(L.float32, L.float64)[i % 2], requires_grad=needed)
        t = t * 2 if i % 2 else t
        t.detach().add_(1) if i else None  # another version
        ins.append(2.5 if i == number else t)
    consts = tuple(f"constant {name}" for name in rule.consts)
    last = max([2, rule.differentiable_outs or 0, *[i + 1 for kind, i, _ in rule.saves if kind == OUT]])
    return tuple(ins), consts, tuple([wrap(np.full((4 + i,), i, "f4")) for i in range(last)])


def single(rule):
    """Whether a row's maker takes its one output, not a tuple."""
    return rule.differentiable_outs == 1 and all(i == 0 for kind, i, _ in rule.saves if kind == OUT)


def entry(value, outs):
    """A saved value, comparable: tensors and arrays by identity, an output by its number."""
    if isinstance(value, tuple) and len(value) == 3 and isinstance(value[0], np.ndarray):
        (nr,) = [i for i, o in enumerate(outs) if o._data is value[0]]
        return "output", nr, value[1] is outs[nr]._ver, value[2]
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], L.Tensor):
        return "input", id(value[0]), value[1]
    return value


def described(outs):
    """Everything that is in a node and in the outputs' edges of it."""
    node = outs[0]._node
    node = node.node if node.__class__ is Out else node
    edges = tuple([e if e is None or e.__class__ is not Leaf else id(e.variable) for e in node.edges])
    edges = tuple([e if e is None or isinstance(e, int) else id(e) for e in edges])
    around = (
        node.consts,
        node.shape,
        node.dtype,
        node.place,
        node.hooks,
        type(node),
        getattr(node, "outs", None),
    )
    assert node.seq < min([o._node.seq for o in outs if o._node.__class__ is Out], default=float("inf"))
    handed = [
        o._rg and (o._node is node or (o._node.nr, o._node.shape, o._node.dtype, o._node.edges == (node,)))
        for o in outs
    ]
    alive = {nr: found() is outs[nr]._node for nr, found in getattr(node, "live", {}).items()}
    return edges, [entry(v, outs) for v in node.saved], around, handed, alive


@pytest.mark.parametrize("part", range(4))
def test_a_made_node_is_the_recorded_one(part):
    for rule in ROWS[part::4]:
        for wanted in itertools.product((True, False), repeat=len(rule.inputs)):
            if not any(needed and vjp for needed, vjp in zip(wanted, rule.vjps, strict=True)):
                continue
            ins, consts, outs = operands(rule, wanted)
            outs = outs[:1] if single(rule) else outs
            record(rule, ins, consts, outs)
            expected = described(outs)
            fresh = tuple([wrap(o._data) for o in outs])
            rule.make(fresh[0] if single(rule) else fresh, *ins, consts)
            assert described(fresh) == expected, (rule, wanted)


def test_a_node_with_a_number_is_the_recorded_one():
    for rule in ROWS:
        if len(rule.inputs) == 2 and all(rule.vjps) and single(rule):
            for row in (rule, variant(rule, "Other")):
                ins, consts, outs = operands(row, (True, False), number=1)
                try:
                    record(row, ins, consts, outs[:1])
                except AttributeError:
                    continue  # a row that asks its second input for a shape or a type
                expected = described(outs[:1])
                (o,) = fresh = (wrap(outs[0]._data),)
                row.make_scaled(o, *ins, consts)
                assert described(fresh) == expected, row


def test_a_view_without_an_edge_is_recorded():
    base = L.ones(3, requires_grad=True)
    with L.no_grad():
        view = base[1:]
    view._view.sync(view)
    assert view._rg and leaf_of(view) is None
    o, again = wrap(np.ones(2, "f4")), wrap(np.ones(2, "f4"))
    TABLE["exp"].make(o, view, ())
    record(TABLE["exp"], (view,), (), (again,))
    assert o._node.edges == again._node.edges == (None,) and o._node.saved == again._node.saved == (None,)


def test_rows_alike_share_their_code():
    codes = {}
    for rule in ROWS:
        make = node_maker.maker(rule)
        key = make.__code__.co_code, make.__code__.co_consts, make.__code__.co_filename
        codes.setdefault(node_maker._Layout(rule, None).source(), set()).add(key)
    assert len(codes) < len(ROWS) / 3
    assert all(len(found) == 1 for found in codes.values())


def test_a_traceback_shows_the_line():
    try:
        TABLE["mul"].make(wrap(np.ones(1)), L.ones(1, requires_grad=True), "no tensor", ())
    except AttributeError as error:
        assert "if x1._rg:" in "".join(traceback.format_exception(error))
    else:
        pytest.fail("there is nothing to see")


def test_a_node_between_no_tensors():
    rule = TABLE["select"]
    x = L.ones(2, 3, requires_grad=True)
    y = x[1]
    n = node_maker.linker(rule)(leaf_of(x), (2, 3), (0, 1), (3,), x._data.dtype, x._place)
    assert (n.edges, n.saved, n.consts, n.shape) == (
        y.grad_fn.edges,
        y.grad_fn.saved,
        y.grad_fn.consts,
        y.grad_fn.shape,
    )


@pytest.mark.parametrize("rule", ROWS, ids=lambda rule: rule.name)
def test_unpacked_values_are_those_of_the_general_way(rule):
    outs, _, node = None, None, None
    for wanted in itertools.product((True, False), repeat=min(len(rule.inputs), 3)):
        wanted = (*wanted, *[True] * (len(rule.inputs) - len(wanted)))
        if not any(need and vjp for need, vjp in zip(wanted, rule.vjps, strict=False)):
            continue
        ins, consts, outs = operands(rule, wanted)
        record(rule, ins, consts, outs if not single(rule) else outs[:1])
        node = outs[0]._node
        node = node.node if node.__class__ is Out else node
        expected = [
            unpack_raw(node, s, kind, index)
            for s, (kind, index, _) in zip(node.saved, rule.saves, strict=True)
        ]
        found = rule.unpack(node, node.saved)
        assert [id(value) for value in found] == [id(value) for value in expected]
        for at, (kind, index, _) in enumerate(rule.saves):
            if kind not in (IN, OUT) or node.saved[at] is None:
                continue
            held = node.saved[at][0] if kind == IN else outs[index]
            with L.no_grad():
                held.detach().add_(1)
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                rule.unpack(node, node.saved)
            break
