"""Norms of the gradients on edges: right, without changing a pass, within a share of the time."""

import numpy as np
import pytest

import vistorch as L
from vistorch.debug import Stepper
from vistorch.debug.graph import Norms, capture
from vistorch.widgets.graph.picture import paint

from ..graphs import bits, build


@pytest.mark.parametrize("seed", range(25))
def test_a_pass_is_bit_for_bit_the_same(seed):
    plain, measured = build(seed), build(seed)
    plain.backward()
    with Norms():
        measured.backward()
    assert [bits(g) for g in plain.grads()] == [bits(g) for g in measured.grads()]
    assert plain.log == measured.log


@pytest.mark.parametrize("seed", range(25))
def test_norms_are_those_that_a_stepper_sees(seed):
    case = build(seed, inputs=None, create_graph=False)
    copied = build(seed, inputs=None, create_graph=False)
    for t in (*case.tensors, *copied.tensors):  # hooks would change gradients between two nodes
        if t._node is not None:
            t._node.hooks = None
    with Norms():
        case.backward(retain_graph=True)
    found = capture(case.roots)
    stepper = Stepper(copied.roots, **copied.arguments)
    seen = {}
    while (frame := stepper.step()) is not None:
        for flow in frame.outgoing:
            g = np.asarray(flow.gradient._data, np.float64)
            seen.setdefault((frame.index, flow.to), []).append(float(np.sqrt((abs(g) ** 2).sum())))
    noted = {}
    for e in found.edges:
        if e.norm is not None:
            noted.setdefault((e.source, e.target), []).append(e.norm)
    assert noted.keys() == seen.keys()
    for key, sizes in noted.items():
        assert sorted(sizes) == pytest.approx(sorted(seen[key]), rel=1e-3, abs=1e-6)


def test_one_tensor_twice():
    x = L.tensor([3.0, 4.0], requires_grad=True)
    y = x * 1
    loss = (y * y).sum()
    with Norms():
        loss.backward()
    norms = {(e.source, e.target): [] for e in capture(loss).edges}
    for e in capture(loss).edges:
        norms[e.source, e.target].append(e.norm)
    assert norms == {(0, 1): [pytest.approx(2**0.5)], (1, 2): [5.0, 5.0], (2, 3): [10.0]}


def test_one_tensor_many_times():
    x = L.tensor([3.0, 4.0], requires_grad=True)
    y = x * 1
    loss = (y * 2 + y * 3 + y * 4 + y * 5).sum()
    with Norms():
        loss.backward()
    r = capture(loss)
    target = next(e.source for e in r.edges if r.nodes[e.target].kind == "input")
    assert sorted(e.norm for e in r.edges if e.target == target) == pytest.approx(
        [k * 2**0.5 for k in (2, 3, 4, 5)]
    )
    assert x.grad.tolist() == [14, 14]


def test_grad_is_added_to_in_place_as_always():
    x = L.ones(2, requires_grad=True)
    x.sum().backward()
    held = x.grad
    with Norms():
        (x * 2).sum().backward()
    assert x.grad is held and held.tolist() == [3, 3]


def test_values_that_are_not_finite_and_half_types():
    x = L.tensor([1.0, float("inf")], requires_grad=True)
    h = L.ones(3, dtype=L.bfloat16, requires_grad=True)
    loss = (x * float("nan")).sum() + (h * 2).sum().float()
    with Norms():
        loss.backward()
    norms = [e.norm for e in capture(loss).edges]
    assert any(np.isnan(v) for v in norms) and any(v == pytest.approx(2 * 3**0.5, rel=1e-2) for v in norms)
    capture(loss).wire()


def test_a_share_of_time():
    x = L.ones(2, requires_grad=True)
    with Norms(share=0.0) as norms:
        first, second = (x * 2).sum(), (x * 2).sum()
        first.backward()
        assert norms.spent > 0
        second.backward()
        third = (x * 2).sum()
        norms.renew()
        third.backward()
    assert capture(first).edges[0].norm is not None and capture(second).edges[0].norm is None
    assert capture(third).edges[0].norm is not None


def test_nothing_listens_any_more():
    x = L.ones(2, requires_grad=True)
    with Norms():
        pass
    loss = (x * 2).sum()
    loss.backward()
    assert {e.norm for e in capture(loss).edges} == {None}
    assert [n.grad for n in capture(loss).nodes if n.kind == "input"] == [pytest.approx(8**0.5)]


def test_simulated_devices():
    L.cuda.simulate(1)
    try:
        x = L.ones(2, device="cuda", requires_grad=True)
        loss = (x * 3).sum()
        with Norms():
            loss.backward()
        r = capture(loss)
        assert [e.norm for e in r.edges] == [pytest.approx(2**0.5), pytest.approx(18**0.5)]
        assert {n.device for n in r.nodes} == {"cuda:0"}
    finally:
        L.cuda.simulate(None)


def test_a_gradient_that_is_one_number_keeps_its_sign():
    w, x = L.tensor([0.5, -1.0, 0.5], requires_grad=True), L.tensor([2.0, 1.0, -0.5])
    b = L.tensor(-1.0, requires_grad=True)
    error = (w * x).sum() + b - 1.0
    loss = error**2
    with Norms():
        loss.backward()
    made = capture(loss, namespace={"w": w, "b": b, "error": error, "loss": loss})
    values = [e.value for e in made.edges]
    assert values[0] == 2 * error.item() < 0 and made.edges[0].norm == -values[0]
    assert all(e.value is None for e in made.edges if e.shape == (3,))
    leaf = next(n for n in made.nodes if n.label == "b")
    assert leaf.value == b.grad.item() < 0 and leaf.grad == -leaf.value
    said = made.text()
    assert "‖gradient‖ or value" in said and "−4.50" in said
    assert "−4.5" in paint(made).decode()
    state = made.wire()
    assert state["edges"]["value"][0] == values[0] and np.isnan(state["nodes"]["value"][0])


def test_a_complex_gradient_has_no_sign():
    z = L.tensor(1 - 2j, requires_grad=True)
    loss = (z * z.conj()).real
    with Norms():
        loss.backward()
    made = capture(loss, namespace={"z": z})
    assert all(e.value is None for e in made.edges[1:] if e.norm is not None)
    assert next(n for n in made.nodes if n.label == "z").value is None
