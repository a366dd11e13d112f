"""The first bad value: origins, what is healed, masked NaN, and what is said of them."""

import warnings

import pytest

import vistorch as L
from tests.debug.graphs import bits, build
from tests.debug.trace.cells import run, states, traced
from vistorch.debug.trace import Trace
from vistorch.widgets._frame import wire


def test_an_infinity_put_there_is_no_origin_but_a_nan_from_it_is():
    scores = L.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    mask = L.tensor([[False, True], [False, False]])
    source = "s = scores.masked_fill(mask, float('-inf'))\na = s.softmax(-1)\na.sum().backward()"
    record = traced(source, scores=scores, mask=mask)
    assert record.first is None, record.sentence
    assert states(record)["masked_fill", 1][0] == "propagated" and states(record)["softmax", 2][0] == "healed"
    full = L.tensor([[True, True], [False, False]])
    record = traced(source, scores=scores, mask=full)
    assert record.first["op"] == "softmax" and "nan" in record.first["how"]
    assert "at least one entry unmasked" in record.cure
    added = L.zeros(2, 2)
    added[0] = float("-inf")
    record = traced("a = (scores + added).softmax(-1)", scores=scores, added=added)
    assert record.first["op"] == "softmax"


def test_in_place_writes_and_assignments():
    record = traced("x /= y", x=L.ones(2), y=L.tensor([0.0, 1.0]))
    assert record.first["op"].startswith("div") and len(record.rows) == 1
    record = traced("x[0] = float('nan')\ny = x + 1", x=L.ones(2))
    assert [r["forward"]["state"] for r in record.rows][-1] == "propagated"
    assert record.rows[0]["line"] == 1


def test_a_bound():
    record = traced("y = x * 100\nz = y * 100", bound=1e3, x=L.tensor([1.0, 5.0]))
    assert states(record) == {("mul", 1): ("clean", None), ("mul", 2): ("origin", None)}
    assert (
        record.first["which"].tolist() == [3, 3]
        and record.rows[1]["forward"]["text"] == "2 of 2 beyond the bound"
    )
    record = traced("y = x * 100\nz = y * 100", bound=1e9, x=L.tensor([1.0, 5.0]))
    assert record.sentence == "There is no bad value and none beyond 1e+09 in 2 ops forward and 0 back."


def test_half_types():
    for dtype in (L.float16, L.bfloat16):
        x = L.tensor([300.0, 1.0]).to(dtype).requires_grad_()
        record = traced("y = x * x * x * x\nz = y.exp()\nz.sum().backward()", x=x)
        assert record.first is not None and wire.pack("trace", record.wire())


def test_clean_runs_say_so_and_change_nothing():
    def step():
        L.manual_seed(0)
        net = L.nn.Sequential(L.nn.Linear(3, 4), L.nn.ReLU(), L.nn.Linear(4, 2))
        opt = L.optim.Adam(net.parameters(), lr=0.1)
        for _ in range(3):
            opt.zero_grad(set_to_none=False)
            L.nn.functional.cross_entropy(net(L.ones(2, 3)), L.tensor([0, 1])).backward()
            opt.step()
        return [p.detach().numpy().tobytes() for p in net.parameters()]

    plain = step()
    with Trace() as trace:
        assert step() == plain
    record = trace.record()
    assert record.first is None and record.sentence.startswith("There is no bad value in ")
    assert {r["module"] for r in record.rows} >= {"[0]", "[1]", "[2]"}


@pytest.mark.parametrize("seed", range(80))
def test_a_traced_pass_is_a_plain_one(seed):
    plain, seen = build(seed), build(seed)
    kept = [(t, t._grad) for t in seen.tensors if t._grad is not None]
    plain.backward()
    with Trace():
        seen.backward()
    assert [bits(g) for g in plain.grads()] == [bits(g) for g in seen.grads()]
    assert plain.log == seen.log
    if not plain.arguments["create_graph"] and not plain.log:
        assert all(g is None or t._grad is g or t._grad is None or bits(t._grad) for t, g in kept)


def test_an_existing_grad_is_added_to_in_place_and_the_graph_is_freed():
    x = L.ones(2, requires_grad=True)
    x.grad = mine = L.ones(2)
    with Trace():
        y = (x * x).sum()
        y.backward()
        with pytest.raises(RuntimeError, match="second time"):
            y.backward()
        assert L.autograd.grad((x * x).sum(), x)[0].tolist() == [2, 2]
    assert x.grad is mine and mine.tolist() == [3, 3]


def test_an_exception_leaves_what_ran():
    trace = Trace()
    with pytest.raises(RuntimeError), trace:
        run("y = x.log()\nz = y @ y2", x=L.zeros(2, 2), y2=L.ones(3, 3))
    record = trace.record()
    assert record.error.startswith("RuntimeError: mat1 and mat2") and record.first["op"] == "log"
    assert "The cell ended with RuntimeError" in record.text()

    def wrong(g):
        raise ValueError("<script>no</script>")

    x = L.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(wrong)
    trace = Trace()
    with pytest.raises(ValueError, match="script"), trace:
        y.sum().backward()
    assert trace.record().error == "ValueError: <script>no</script>" and x.grad is None


def test_many_ops_are_cut_down():
    source = "for i in range(500):\n    x = x + 1\ny = x.sub(501).log()\nfor i in range(500):\n    y = y * 1"
    record = traced(source, x=L.ones(1))
    assert record.forward == 1002 and len(record.rows) <= 420
    assert record.first["op"] == "log" and "are not listed" in record.says[0]
    assert any(r["id"] == record.first["row"] for r in record.rows)


def test_several_dims_are_shown_around_the_place():
    x = L.ones(3, 20, 20)
    x[2, 15, 3] = 0
    record = traced("y = x.log()", x=x)
    t = record.first["inputs"][0]
    assert t["lead"] == [2] and t["start"] == [12, 0] and t["values"].shape == (6, 6) and not t["whole"]
    assert t["values"][3, 3] == 0 and "from [2, 12, 0]" in record.text()


def test_nothing_is_kept_alive():
    import gc
    import weakref

    x = L.ones(1000, requires_grad=True)
    with Trace() as trace:
        y = x.exp() * 2
        node, data = weakref.ref(y.grad_fn), weakref.ref(y._data)
        y.sum().backward()
        del y
        gc.collect()
        assert node() is None and data() is None
    assert len(trace.rows) == 3


# ---- anomaly mode --------------------------------------------------------------------------------------------------
def test_the_exception_of_anomaly_mode_carries_the_facts():
    source = "h = p.log()\nH = torch.where(p > 0, h, z).sum()\nH.backward()"
    p = L.tensor([[0.5, 0.0]], requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RuntimeError) as caught, L.autograd.detect_anomaly():
            run(source, torch=L, p=p, z=L.zeros(1, 2))
    assert str(caught.value) == "Function 'LogBackward0' returned nan values in its 0th output."
    notes = caught.value.__notes__
    assert notes[0] == "LogBackward0 was made in cell [8], line 1"
    assert notes[1] == "NaN at [0, 1], in 1 of 2 values: 0 / 0 = nan"
    assert notes[2].startswith("what usually helps: take the log of a clamped value")
    assert caught.value.facts.at.tolist() == [[0, 1]]


def test_anomaly_of_a_custom_function_has_what_is_known():
    class Wrong(L.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g * float("nan")

    x = L.ones(2, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RuntimeError, match="returned nan values in its 0th output") as caught:
            with L.autograd.detect_anomaly():
                Wrong.apply(x).sum().backward()
    assert "NaN at [0], in 2 of 2 values" in caught.value.__notes__[1]


def test_backward_heals_too():
    x, keep = L.tensor([4.0, 0.0], requires_grad=True), L.tensor([True, False])
    record = traced(
        "y = torch.where(keep, x, torch.zeros(2))\nz = y.sqrt().sum()\nz.backward()", x=x, keep=keep
    )
    assert states(record)["sqrt", 2] == ("clean", "origin") and states(record)["where", 1] == (
        "clean",
        "healed",
    )
    assert x.grad.tolist() == [0.25, 0.0] and not record.leaves


def test_the_line_that_an_exception_came_through_is_marked():
    trace = Trace()
    with pytest.raises(ZeroDivisionError), trace:
        run("y = x.exp()\ndef inner():\n    return 1 / 0\nz = inner()", x=L.ones(2))
    lines = trace.record().source["lines"]
    assert {line["number"]: line["marks"] for line in lines if line["marks"]} == {
        3: [["ended here", "failed"]]
    }
