"""The record of a whole walk: what it says, and that it replays what the stepper does."""

import random

import numpy as np
import pytest

import vistorch as L
from tests.debug.graphs import bits, build
from vistorch.debug import Lines, Stepper
from vistorch.debug.steps import Walk, record
from vistorch.engine.core.graph import Leaf
from vistorch.widgets._frame import wire


def example():
    x = L.ones(2, 2, requires_grad=True)
    out = (3 * (x + 2) ** 2).mean()
    return x, out


def test_the_example_reaches_its_gradient_in_four_readable_steps():
    x, out = example()
    made = record(Stepper(out, names={x: "x"}), title="out.backward()")
    assert made.text() == (
        "out.backward(): 4 steps, 1 leaf\n"
        "1 of 4  MeanBackward0  1 / 4 = 0.25\n"
        "2 of 4  MulBackward0   0.25 · 3 = 0.75\n"
        "3 of 4  PowBackward0   0.75 · 2 · 3 = 4.5\n"
        "4 of 4  AddBackward0   4.5\n"
        "        -> x.grad: 0 + 4.5"
    )
    power = made.frames[2]["outgoing"][0]["numbers"]
    assert power["note"] == "g · 2 · x, with the x that forward saved"
    arrays = [p for p in power["parts"] if p["kind"] == "array"]
    assert [a["role"] for a in arrays] == ["gradient", "forward", "result"]
    assert arrays[0]["rows"] == [["0.75", "0.75"], ["0.75", "0.75"]]
    assert arrays[2]["rows"] == [["4.5", "4.5"], ["4.5", "4.5"]]
    assert power["latex"].count("pmatrix") == 6 and "\\cdot 2 \\cdot" in power["latex"]
    values = [made.values[n["forward"]]["data"] for n in made.nodes]
    assert [v.reshape(-1)[0] for v in values] == [27, 27, 9, 3, 1]


def test_the_text_says_where_a_pass_that_has_begun_stands_and_why():
    x, out = example()
    stepper = Stepper(out, names={x: "x"})
    stepper.step()
    stepper.step()
    made = record(stepper)
    assert made.text().splitlines()[3:5] == [
        "        == stands here",
        "3 of 4  PowBackward0   0.75 · 2 · 3 = 4.5",
    ]
    made.stops = [[2, "Pow*"], [3, "Add*"]]
    assert "== stands here: Pow*\n3 of 4" in made.text() and "Add*" not in made.text()


def test_what_was_there_is_added_to():
    x, out = example()
    x.grad = L.full((2, 2), 0.5)
    made = record(Stepper(out, names={x: "x"}))
    assert made.frames[-1]["grads"][0]["sum"] == "0.5 + 4.5"
    after = made.values[made.frames[-1]["grads"][0]["after"]]
    assert np.array_equal(after["data"], np.full((2, 2), 5.0, "f4"))
    assert made.start[0][0] == 4 and made.values[made.start[0][1]]["mean"] == 0.5


def test_gradients_that_meet_are_added():
    x = L.tensor(2.0, requires_grad=True)
    made = record(Stepper(x * x, names={x: "x"}))
    assert [o["sum"] for o in made.frames[0]["outgoing"]] == ["0 + 2", "2 + 2"]


def replay(made):
    """The `.grad` of each leaf after each number of steps, as a page would have it."""
    now = dict(map(tuple, made.start))
    states = [dict(now)]
    for frame in made.frames:
        for grad in frame["grads"]:
            now[grad["node"]] = grad["after"]
        states.append(dict(now))
    return states


def seen(made, number):
    return None if number is None else made.values[number]["data"].tobytes()


@pytest.mark.parametrize("seed", range(80))
def test_a_page_shows_what_the_stepper_does(seed):
    case = build(seed)
    stepper = Stepper(case.roots, **case.arguments)
    rng = random.Random(seed)
    walk = Walk(stepper)
    start = rng.randint(0, 4)
    walk.to(start)
    before, stood = [bits(g) for g in case.grads()], stepper.position
    made = record(stepper, budget=10**9)
    assert stepper.position == stood and [bits(g) for g in case.grads()] == before
    assert made.failed is None and made.at == walk.at
    leaves = {i: n.variable for i, n in enumerate(stepper.nodes) if n.__class__ is Leaf}
    states = replay(made)
    moves = list(range(made.count + 1)) + [rng.randint(0, made.count) for _ in range(6)]
    for k in moves:
        assert walk.to(k) == k
        for i, t in leaves.items():
            now = None if t._grad is None else t._grad._data.tobytes()
            assert seen(made, states[k][i]) == now, (k, i)
    assert walk.first() == 0
    stepper.undo()


@pytest.mark.parametrize("seed", range(40))
def test_what_flows_is_what_arrives(seed):
    """Frames laid over each other: each step's input is what earlier ones left, and states follow."""
    case = build(seed)
    made = record(Stepper(case.roots, **case.arguments), budget=10**9)
    waits, done = {(node, nr): value for node, nr, value in made.waits}, set()
    for frame in made.frames:
        node = frame["node"]
        if (node, 0) in waits and len(frame["incoming"]) == 1:
            assert seen(made, frame["incoming"][0]) == seen(made, waits[node, 0])
        for flow in frame["outgoing"]:
            if flow["to"] is not None:
                assert flow["to"] not in done
                key = flow["to"], flow["output"]
                assert seen(made, flow["before"]) == seen(made, waits.get(key))
                waits[key] = flow["after"]
        done |= set(frame["done"])
    assert len(done) == sum(len(f["done"]) for f in made.frames)


@pytest.mark.parametrize("seed", range(40))
def test_numbers_give_the_result(seed):
    """Every formula that is shown with numbers ends in an entry of what was sent."""
    made = record(Stepper(build(seed, create_graph=False).roots[0]), budget=10**9)
    shown = 0
    for frame in made.frames:
        for flow in frame["outgoing"]:
            numbers = flow["numbers"]
            if numbers is None:
                continue
            shown += 1
            data = np.asarray(made.values[flow["gradient"]]["data"])
            entry = data[tuple(numbers["at"])] if numbers["at"] is not None else data.reshape(-1)[0]
            assert float(numbers["text"].split(" = ")[-1].split(": ")[-1]) == pytest.approx(
                float(entry), rel=1e-3
            )
    assert shown


def test_a_budget_makes_overviews_of_the_largest():
    x = L.randn(300, 200, requires_grad=True)
    w = L.randn(200, 2, requires_grad=True)
    y = (x.tanh() @ w).sum()
    made = record(Stepper(y, names={x: "x", w: "w"}), budget=20_000)
    assert "shown as overviews" in made.says[0]
    assert max(np.prod(v["shape"], dtype=int) for v in made.values if v["exact"]) <= 600
    for v in made.values:
        if not v["exact"]:
            assert 0 < np.prod(v["grid"]) <= 4096 and ("codes" in v or v["grid"] != v["shape"])
    sent = wire.pack("steps", made.wire())
    buffers = sum(v[k].nbytes for v in made.values for k in ("data", "codes", "levels") if k in v)
    assert buffers <= 20_000 and len(sent) < 60_000
    kind, back = wire.unpack(sent)
    assert kind == "steps" and back["count"] == made.count and back["text"] == made.text()


def test_overviews_show_what_is_bad():
    x = L.ones(300, 200, requires_grad=True)
    g = L.ones(300, 200)
    g[7, 9] = float("nan")
    made = record(Stepper(x * 2, g), budget=2_000)
    value = made.values[made.frames[0]["outgoing"][0]["gradient"]]
    assert value["nan"] == 1 and not value["exact"]
    cells = value.get("data")
    assert np.isnan(cells).sum() == 1 if cells is not None else (value["codes"] == 255).sum() == 1


def test_sums_over_what_was_broadcast_and_products_of_matrices():
    x = L.tensor([[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]], requires_grad=True)
    b = L.tensor([0.5, 0.25], requires_grad=True)
    made = record(Stepper(((x + b) * L.tensor([[1.0, 2], [3, 4], [5, 6]])).sum(), names={x: "x", b: "b"}))
    texts = {o["input"]: o["numbers"]["text"] for f in made.frames for o in f["outgoing"]}
    assert texts["other"] == "[1]: 2 + 4 + 6 = 12"
    w = L.tensor([[2.0], [3.0]], requires_grad=True)
    made = record(Stepper((x.detach() @ w).sum()))
    assert made.frames[1]["outgoing"][0]["numbers"]["text"] == "[1, 0]: 2 · 1 + 4 · 1 + 1 · 1 = 7"


def test_saved_values_lines_and_names():
    x = L.tensor([1.0, 2.0], requires_grad=True)
    with Lines():
        y = (x.exp() * x).sum()
    made = record(Stepper(y, names={x: "<b>x</b>"}))
    product = made.nodes[1]
    assert product["name"] == "MulBackward0" and product["line"]["text"] == "y = (x.exp() * x).sum()"
    assert [(s["name"], s["what"], s["bytes"], s["alias"]) for s in product["saved"]] == [
        ("other", "input", 8, True),
        ("input", "input", 8, False),
    ]
    assert made.nodes[-1]["label"] == "<b>x</b>" and "<b>x</b>.grad" in made.text()


def test_hooks_that_raise_leave_what_was_recorded():
    x, _ = example()

    def wrong(g):
        raise ValueError("not today\nnor tomorrow")

    middle = x * 1
    middle.register_hook(wrong)
    stepper = Stepper((middle * 2).sum())
    made = record(stepper)
    assert made.count == 2 and stepper.position == 0 and x.grad is None
    assert made.failed == "the pass ends before MulBackward0: ValueError: not today nor tomorrow"
    assert made.text().endswith(made.failed) and "hooks ran" in made.says[-1]


def test_what_cannot_be_walked():
    with pytest.raises(RuntimeError, match="does not require grad"):
        Stepper(L.ones(2))
    x, out = example()
    out.backward()
    made = record(Stepper(out))
    assert made.failed.startswith(
        "the pass ends before MulBackward0: RuntimeError: Trying to backward through the graph a second time"
    )
    assert made.count == 1 and "\n" not in made.failed and np.allclose(x.grad.numpy(), 4.5)


def test_live_steps_are_those_of_the_record():
    x, out = example()
    walk = Walk(Stepper(out, names={x: "x"}))
    assert [walk.step() for _ in range(5)] == [1, 2, 3, 4, 4]
    assert x.grad is not None and walk.back() == 3 and x.grad is None
    assert walk.last() == 4 and walk.first() == 0
    assert walk.run("grad.norm > 8").frame.name == "PowBackward0" and walk.at == 2
    leaf = L.tensor(1.0, requires_grad=True)
    walk = Walk(Stepper(leaf))
    assert walk.step() == 1 and leaf.grad.item() == 1 and walk.back() == 0 and leaf.grad is None
    assert record(Stepper(leaf)).count == 1


def test_types_that_have_no_plain_numbers():
    for dtype in (L.bfloat16, L.float16, L.complex64, L.float64):
        x = L.ones(3, dtype=dtype, requires_grad=True)
        made = record(Stepper(x * x, L.ones(3, dtype=dtype)))
        assert made.count == 1 and wire.unpack(wire.pack("steps", made.wire()))[1]["count"] == 1
        if dtype != L.complex64:
            assert made.frames[0]["outgoing"][0]["numbers"]["text"] == "1 · 1 = 1"


def test_a_formula_is_never_shown_with_a_result_it_does_not_give():
    from vistorch.debug.steps.numbers import Known, numbers_of
    from vistorch.engine.core.rules import TABLE

    g, y = np.array([2.0]), np.array([3.0])
    known = Known(TABLE["mul"], g, {"other": y}, {}, {})
    assert numbers_of(known, "input", np.array([6.0])).text == "2 · 3 = 6"
    assert numbers_of(known, "input", np.array([6.1])) is None
    assert numbers_of(known, "other", np.array([6.0])) is None  # what it reads is not known


def test_a_long_pass_keeps_a_part_that_replays():
    x = L.ones(2, requires_grad=True)
    y = x
    for i in range(700):
        y = y * 1.001 if i % 100 else y * x
    stepper = Stepper(y.sum())
    walk = Walk(stepper)
    walk.to(500)
    stood = stepper.position
    made = record(stepper, budget=10**9)
    assert (made.skipped, len(made.frames), made.count, made.at) == (101, 600, 701, 500)
    assert stepper.position == stood and "steps 102 to 701 of 701 are kept here" in made.says
    assert len(made.nodes) == 702 and "shape" not in made.nodes[50] and "shape" in made.nodes[300]
    assert len(made.done) == made.skipped
    walk.to(made.skipped)
    waits = {n: g._data.tobytes() for n, g in stepper.pending().items()}
    assert {n: seen(made, v) for n, _, v in made.waits} == waits
    assert len(wire.pack("steps", made.wire())) < 2_000_000
    assert record(Stepper(y.sum()), at=0).frames[0]["node"] == 0
    short = record(Stepper(y.sum()), at=0)
    assert short.skipped == 0 and short.count == 701 and "steps 1 to 600 of 701" in short.says[0]
