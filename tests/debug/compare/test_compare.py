"""Two runs op by op, and recordings as files."""

import io
import json
import re
import zipfile

import numpy as np
import pytest

import vistorch as L
from tests.debug.graphs import bits, build
from vistorch.debug.compare import Record, Recording, compare
from vistorch.widgets._frame import wire
from vistorch.widgets.compare.picture import paint


def net(seed=0):
    L.manual_seed(seed)
    return L.nn.Sequential(L.nn.Linear(4, 5), L.nn.ReLU(), L.nn.Linear(5, 3), L.nn.Softmax(-1))


def step(model, x, title="", scale=1.0, wrong=False):
    names = {p: n for n, p in model.named_parameters()}
    with Record(title, names=names) as run:
        y = model(x) * scale
        if wrong:
            y = y + 0.25
        (y * y).sum().backward()
    return run.recording()


X = L.arange(8.0).reshape(2, 4) / 8


def test_equal_runs_agree_in_every_bit():
    a, b = step(net(), X, "a"), step(net(), X, "b")
    found = compare(a, b, rtol=0, atol=0)
    assert found.first is None and found.sentence == f"The runs agree: {len(a.ops)} ops compared."
    assert {r["forward"]["state"] for r in found.rows} == {"same"} and not found.leaves
    assert {"0.weight", "0.bias", "2.weight", "2.bias"} == set(a.leaves)
    assert sum(r["backward"] is not None for r in found.rows) >= 7


def test_another_seed_is_blamed_on_what_was_given():
    found = compare(step(net(0), X, "seed 0"), step(net(1), X, "seed 1"))
    states = {(r["op"], r["forward"]["state"]) for r in found.rows}
    assert ("addmm", "inherited") in states and not any(s == "own" for _, s in states)
    by = np.abs(net(0)[0].weight.detach().numpy() - net(1)[0].weight.detach().numpy()).max()
    assert found.sentence.startswith("The first difference is in t (number 1) in layer [0]: at ")
    seen = re.search(
        r"; the runs gave it different numbers: its input of shape \[5, 4\] differs by up to (.*?) \(",
        found.sentence,
    )
    assert seen and float(seen[1]) == pytest.approx(by, rel=1e-3)
    assert found.leaves[0]["name"] == "0.bias" and len(found.leaves) == 4


def test_an_edit_is_its_own_doing_and_what_follows_inherits():
    found = compare(step(net(), X, "before", scale=1.0), step(net(), X, "after", scale=1.5))
    own = [r["op"] for r in found.rows if r["forward"]["state"] == "own"]
    assert own == ["mul"] and found.first["pass"] == "forward"
    row = found.rows[found.first["row"]]
    assert row["op"] == "mul" and row["forward"]["largest"] == pytest.approx(row["forward"]["own"])
    assert all(r["forward"]["state"] == "inherited" for r in found.rows[row["id"] + 1 :])
    assert "by its own doing" in found.sentence
    assert all(r["forward"]["state"] == "same" for r in found.rows[: row["id"]])
    text = found.text()
    assert text.startswith(f"before against after: {len(found.rows)} ops\nThe first difference is in mul")
    assert "own " in text and "0.weight.grad differs by" in text
    blamed = compare(step(net(), X), step(net(), X, scale=1.5), single_step=False)
    assert {r["forward"]["state"] for r in blamed.rows} == {"same", "differs"}


def test_a_wrong_gradient_is_found_in_the_backward_of_its_node():
    class Wrong(L.autograd.Function):
        factor = 1.0

        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2 * Wrong.factor

    runs = []
    for factor in (1.0, 1.1):
        Wrong.factor = factor
        x = L.tensor([1.0, 2.0], requires_grad=True)
        with Record(names={x: "x"}) as run:
            Wrong.apply(x.exp()).sin().sum().backward()
        runs.append(run.recording())
    found = compare(*runs)
    assert found.first["pass"] == "backward" and "the backward of Wrong" in found.sentence
    assert all(r["forward"]["state"] == "same" for r in found.rows)
    exp = next(r for r in found.rows if r["op"] == "exp")
    assert exp["backward"]["state"] == "inherited"


def test_ops_that_only_one_run_has():
    found = compare(step(net(), X), step(net(), X, wrong=True))
    alone = [r for r in found.rows if r["a"] is None]
    assert [r["op"] for r in alone] == ["add"] and found.sentence.startswith("Only the other run has add")
    assert "only in the other run" in found.text()
    assert compare(step(net(), X, wrong=True), step(net(), X)).sentence.startswith(
        "Only the reference has add"
    )


def test_cpu_against_a_simulated_device():
    L.cuda.simulate(1)
    try:
        a = step(net(), X, "cpu")
        b = step(net().to("cuda"), X.to("cuda"), "simulated")
    finally:
        L.cuda.simulate(0)
    found = compare(a, b)
    assert found.first is None, found.sentence


def test_the_difference_of_the_element_that_differs_most_is_said_exactly():
    def run(add):
        x = L.arange(40_000.0).reshape(200, 200)
        with Record() as r:
            x + add
        return r.recording()

    add = L.zeros(200, 200)
    add[100, 51], add[101, 51] = 3.0, -2.0
    first = compare(run(L.zeros(200, 200)), run(add)).first
    assert first["at"] == [100, 51] and first["apart"] == "3"
    assert first["difference"]["exact"] is False, "the picture has blocks of several elements"


def test_tolerances_and_what_is_not_finite():
    def run(values, dtype=L.float32):
        with Record() as r:
            L.tensor(values, dtype=dtype) * 1
        return r.recording()

    near = run([1.0, float("nan"), float("inf")]), run([1.0 + 1e-5, float("nan"), float("inf")])
    assert compare(*near).first is None
    assert compare(*near, rtol=0, atol=0).rows[0]["forward"]["beyond"] == 1
    far = compare(run([1.0, 2.0]), run([1.0, float("nan")]))
    assert far.rows[0]["forward"]["largest"] == np.inf and far.first["values"] == ["2", "nan"]
    assert compare(run([float("inf")]), run([float("-inf")])).first is not None
    shapes = compare(run([1.0]), run([1.0, 2.0]))
    assert shapes.rows[0]["forward"]["shapes"] == "[1] and [2]" and "[1] and [2]" in shapes.sentence
    types = compare(run([1.0]), run([1.0], L.float64))
    assert types.rows[0]["forward"]["shapes"] == "float32 and float64"


@pytest.mark.parametrize("seed", range(40))
def test_each_op_run_again_gives_what_it_gave(seed):
    """The single step on the run itself: whatever can be run again must be equal, forward and backward."""
    from vistorch.debug.compare.replay import backward_again, forward_again, inputs_of

    case = build(seed, create_graph=False)
    with Record() as run:
        again = build(seed, create_graph=False)
        again.backward()
    plain = build(seed, create_graph=False)
    plain.backward()
    assert [bits(g) for g in plain.grads()] == [bits(g) for g in again.grads()]
    del case
    recording = run.recording()
    judged = 0
    hooked = again.log or any(t.grad_fn is not None and t.grad_fn.hooks for t in again.tensors)
    for op in recording.ops:
        ins = inputs_of(recording, op)
        found = forward_again(op, ins, op.outs)
        if found is not None:
            judged += 1
            for x, y in zip(op.outs, found, strict=False):
                np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)
        sent = (
            backward_again(op, ins, op.outs, op.given)
            if found is not None and op.sent and not hooked
            else None
        )
        for i, g in op.sent if sent is not None else ():
            if sum(j == i for j, _ in op.sent) == 1 and i in sent:
                np.testing.assert_allclose(sent[i], g, rtol=1e-6, atol=1e-12)
    assert judged > len(recording.ops) / 2


def test_a_recording_is_what_was_when_it_was():
    x = L.ones(3)
    with Record() as run:
        y = x * 2
        y.add_(5)
        x.zero_()
    ops = run.recording().ops
    assert ops[0].outs[0].tolist() == [2, 2, 2] and ops[0].ins[0][1].tolist() == [1, 1, 1]


# ---- files ---------------------------------------------------------------------------------------------------------
def test_a_file_holds_all_of_it(tmp_path):
    a = step(net(), X, "run <1>")
    path = tmp_path / "run.zip"
    a.save(path)
    back = Recording.load(path)
    assert back.title == a.title and back.leaves.keys() == a.leaves.keys()
    assert compare(a, back, rtol=0, atol=0).first is None
    for x, y in zip(a.ops, back.ops, strict=True):
        assert (x.name, x.module, x.line, x.order) == (y.name, y.module, y.line, y.order)
        assert [bits(d) for d in x.outs] == [bits(d) for d in y.outs]
        assert x.consts is None or y.consts is None or len(x.consts) == len(y.consts)
    later = compare(back, step(net(), X, scale=1.5))
    assert [r["op"] for r in later.rows if r["forward"]["state"] == "own"] == ["mul"]
    assert path.stat().st_size < a.nbytes + 20_000


def test_all_types_travel(tmp_path):
    with Record() as run:
        for dtype in (L.float16, L.bfloat16, L.float32, L.float64, L.complex64, L.int64, L.bool, L.uint8):
            L.ones(2, dtype=dtype).clone()
        L.ones(3)[1:2].clamp(min=float("-inf"))
        L.ones(()).clone()
    a = run.recording()
    held = io.BytesIO()
    a.save(held)
    back = Recording.load(held)
    assert [[bits(d) for d in op.outs] for op in a.ops] == [[bits(d) for d in op.outs] for op in back.ops]
    assert compare(a, back, rtol=0, atol=0).first is None


def broken(change):
    held = io.BytesIO()
    step(net(), X).save(held)
    out = io.BytesIO()
    with zipfile.ZipFile(held) as z, zipfile.ZipFile(out, "w") as new:
        for name in z.namelist():
            data = z.read(name)
            if name == "recording.json":
                head = json.loads(data)
                change(head)
                data = json.dumps(head).encode()
            new.writestr(name, data)
    return out


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda h: h.update(format="other"), "not one of a recording"),
        (lambda h: h.update(version=99), "has version 99"),
        (lambda h: h["ops"][0]["outs"].append(10_000), "10000 is no number"),
        (lambda h: h["ops"][0]["ins"].append(["row", 0, 0]), "0 is no number of one of 0"),
        (lambda h: h["ops"][0].pop("name"), "name"),
        (lambda h: h["ops"][0]["ins"].append(["code", "x"]), "kind 'code'"),
        (lambda h: h["ops"].append(3), "is no recording"),
        (lambda h: h["types"].append("object"), "is no recording"),
        (lambda h: h["types"].__setitem__(0, "int8"), "not int8"),
        (lambda h: h["ops"][0].update(consts=[{"code": "x"}]), "kind 'code'"),
    ],
)
def test_files_that_are_none(change, said):
    with pytest.raises(ValueError, match="is no recording: ") as caught:
        Recording.load(broken(change))
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_a_pickled_array_is_not_read():
    held = io.BytesIO()
    step(net(), X).save(held)
    out, evil = io.BytesIO(), io.BytesIO()
    np.save(evil, np.array([{}], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(held) as z, zipfile.ZipFile(out, "w") as new:
        for name in z.namelist():
            new.writestr(name, evil.getvalue() if name == "0.npy" else z.read(name))
    with pytest.raises(
        ValueError, match="is no recording: an array has a header that is not one of plain numbers"
    ):
        Recording.load(out)
    with pytest.raises(ValueError, match="is no recording"):
        Recording.load(io.BytesIO(b"no zip"))
    with pytest.raises(FileNotFoundError):
        Recording.load("/nowhere/at/all.zip")


def test_it_travels():
    found = compare(step(net(), X, "a"), step(net(), X, "b", scale=2.0))
    kind, state = wire.unpack(wire.pack(found.kind, found.wire()))
    assert kind == "compare" and state["sentence"] == found.sentence and state["report"] == found.text()
    assert state["first"]["difference"]["shape"] == [2, 3]
    data = state["first"]["difference"]["data"]
    assert np.allclose(data, state["first"]["b"]["data"] - state["first"]["a"]["data"])


def test_a_page_gets_what_differs_and_a_count():
    runs = []
    for last in (1.0, 2.0):
        with Record() as run:
            y = L.ones(2)
            for i in range(500):
                y = y.sin() if i != 490 else y * last
        runs.append(run.recording())
    state = compare(*runs).wire()
    assert state["ops"] == len(runs[0].ops) == 500 and state["differing"] == 10
    assert len(state["rows"]) < 30 and sum(r["forward"]["state"] != "same" for r in state["rows"]) == 10
    same = compare(runs[0], runs[0]).wire()
    assert same["differing"] == 0 and len(same["rows"]) == 400


def _hidden():
    class Hidden(L.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            out = L.tanh(x @ w)
            ctx.save_for_backward(x, w, out)
            return out

        @staticmethod
        def backward(ctx, g):
            x, w, out = ctx.saved_tensors
            g = g * (1 - out * out)
            return g @ w.t(), x.t() @ g

    return Hidden


def test_a_function_of_one_s_own_that_computes_the_same_agrees_with_its_ops():
    L.manual_seed(0)
    x, w = L.randn(3, 4), L.randn(4, 2, requires_grad=True)

    def run(f):
        w.grad = None
        with Record() as made:
            f(x, w).sum().backward()
        return made.recording()

    seen = compare(run(lambda x, w: L.tanh(x @ w)), run(_hidden().apply))
    assert not seen.leaves and "backward of tanh" not in seen.sentence
    wrong = compare(run(lambda x, w: L.tanh(x @ w)), run(lambda x, w: _hidden().apply(x, w * 2)))
    assert len(wrong.leaves) == 1


def test_a_copy_under_another_name_is_compared_by_order():
    L.manual_seed(0)
    net = L.nn.Linear(3, 2)
    there = L.nn.Linear(3, 2)
    there.load_state_dict(net.state_dict())
    x = L.randn(4, 3)

    def run(model, name):
        with Record(names={p: f"{name}.{n}" for n, p in model.named_parameters()}) as made:
            model(x).pow(2).sum().backward()
        return made.recording()

    a = run(net, "net")
    assert compare(a, run(there, "there")).leaves == []
    with L.no_grad():
        there.bias += 1
    seen = compare(a, run(there, "there"))
    assert [leaf["name"] for leaf in seen.leaves] == [
        "net.bias and there.bias",
        "net.weight and there.weight",
    ]


def test_a_run_has_one_name_throughout_and_a_replaced_op_is_said_to_be_one():
    runs = []
    for act in (L.relu, L.nn.functional.gelu):
        x = L.arange(-1.0, 2.0).requires_grad_()
        with Record("before" if act is L.relu else "after") as run:
            act(x * 2).sum().backward()
        runs.append(run.recording())
    found = compare(*runs)
    assert found.sentence.startswith("Where before has relu, after has gelu (number 2).")
    said = " ".join([found.text(), found.title, *paint(found).decode().split(">")])
    assert "only in before" in said and "only in after" in said
    assert "reference" not in said and "other run" not in said and "only in a " not in f"{said} "
    assert found.wire()["names"] == ["before", "after"]


def test_runs_of_one_title_are_told_apart():
    found = compare(step(net(), X, "same"), step(net(), X, "same", wrong=True))
    assert found.names == ("the reference", "the other run") and "same" not in found.sentence.split()
