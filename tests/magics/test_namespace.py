"""`%vt vars`: what counts, what each row says, who shares memory, in which order, at which cost."""

import gc
import math
import re
import time
import weakref

import numpy as np
import pytest

import vistorch
from vistorch import nn, vt
from vistorch.debug.variables import MOST, Row, names_worth_looking_at, said_bytes, survey


def rows(**names):
    return {row.name: row for row in survey(names).rows}


def test_what_counts():
    x = vistorch.ones(2)
    names = {
        "x": x,
        "w": nn.Parameter(x),
        "net": nn.Linear(2, 1),
        "a": np.zeros(2),
        "_x": x,
        "_12": x,
        "Out": {1: x},
        "In": ["x"],
        "n": 3,
        "s": "text",
        "f": np.float32(1),
        "l": [x],
        "cls": vistorch.Tensor,
        3: x,
    }
    found = {row.name: row.kind for row in survey(names).rows}
    assert found == {"x": "tensor", "w": "parameter", "net": "module", "a": "array"}


def test_a_tensor_s_row():
    x = vistorch.zeros(2, 3, dtype=vistorch.float64, requires_grad=True)
    row = rows(x=x)["x"]
    assert (row.shape, row.dtype, row.device, row.nbytes) == ((2, 3), "float64", "cpu", 48)
    assert (row.requires_grad, row.grad_norm, row.says) == (True, None, "")
    (x * 3).sum().backward()
    assert rows(x=x)["x"].grad_norm == pytest.approx(3 * math.sqrt(6))


def test_an_array_s_row_has_no_gradient():
    row = rows(a=np.zeros((4, 2), np.int16))["a"]
    assert (row.shape, row.dtype, row.device, row.nbytes, row.requires_grad) == (
        (4, 2),
        "int16",
        "cpu",
        16,
        None,
    )


def test_a_module_s_row_is_all_of_it():
    net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8))
    row = rows(net=net)["net"]
    tensors = [*net.parameters(), *net.buffers()]
    assert row.shape is None
    assert row.nbytes == sum(t.numel() * t.element_size() for t in tensors)
    assert (row.dtype, row.requires_grad, row.grad_norm) == ("float32, int64", True, None)
    assert row.says.startswith("Sequential: 56 values in 4 parameters")
    net(vistorch.randn(5, 4)).square().sum().backward()
    norm = math.sqrt(sum(float((p.grad.double() ** 2).sum()) for p in net.parameters()))
    assert rows(net=net)["net"].grad_norm == pytest.approx(norm)
    for parameter in net.parameters():
        parameter.requires_grad_(False)
    assert rows(net=net)["net"].requires_grad is False


def test_a_module_without_parameters():
    row = rows(relu=nn.ReLU())["relu"]
    assert (row.nbytes, row.dtype, row.device, row.thumb) == (0, "", "", None)
    assert row.says == "ReLU: 0 values in 0 parameters"


def test_simulated_devices_say_so():
    vistorch.cuda.simulate(2)
    try:
        assert rows(x=vistorch.ones(2, device="cuda:1"))["x"].device == "cuda:1 (simulated)"
    finally:
        vistorch.cuda.simulate(None)


def test_who_shares_memory():
    x = vistorch.ones(4, 6)
    said = {
        name: row.says
        for name, row in rows(
            row=x[1],
            x=x,
            same=x,
            turned=x.t(),
            array=x.numpy(),
            cut=x.numpy()[1:],
            apart=x.clone(),
            bare=x.detach(),
        ).items()
    }
    assert said == {
        "x": "",
        "row": "view of x",
        "same": "the same as x",
        "turned": "view of x",
        "array": "shares memory with x",
        "cut": "view of x",
        "apart": "",
        "bare": "shares memory with x",
    }


def test_a_view_whose_base_has_no_name_says_nothing():
    assert rows(row=vistorch.ones(4, 6)[1])["row"].says == ""


def test_a_module_under_two_names():
    net = nn.Linear(1, 1)
    found = rows(net=net, model=net)
    assert found["model"].says == "the same as net"


def test_a_view_larger_than_its_base():
    row = vistorch.arange(5)
    found = rows(tall=row.expand(9, 5), row=row, windows=row.unfold(0, 2, 1))
    assert {name: one.says for name, one in found.items()} == {
        "tall": "view of row",
        "row": "",
        "windows": "view of row",
    }


def test_the_title_counts_memory_once():
    x = vistorch.ones(1000)
    assert survey({"x": x, "y": x[:500], "a": x.numpy()}).title == "3 names, 4,000 bytes"
    net = nn.Linear(10, 10)
    assert survey({"net": net, "w": net.weight}).title == "2 names, 440 bytes"


def test_orders():
    x10, x2 = vistorch.ones(10), vistorch.ones(2, dtype=vistorch.int64)
    g = vistorch.ones(1, requires_grad=True)
    (g * 5).sum().backward()
    h = vistorch.ones(1, requires_grad=True)
    (h * math.nan).sum().backward()
    names = {"x10": x10, "x2": x2, "B": g, "a": np.ones(3), "h": h}

    def order(sort, **more):
        return [row.name for row in survey(names, sort=sort, **more).rows]

    assert order("name") == ["a", "B", "h", "x2", "x10"]
    assert order("name", reverse=True) == ["x10", "x2", "h", "B", "a"]
    assert order("bytes") == ["x10", "a", "x2", "B", "h"]
    assert order("shape") == ["x10", "a", "x2", "B", "h"]
    assert order("grad")[:2] == ["h", "B"]
    assert order("kind")[0] == "a"
    assert order("dtype") == ["B", "h", "x10", "a", "x2"]
    assert order("name", kind="array") == ["a"]


def test_many_names_are_cut_and_the_title_says_so():
    table = survey({f"x{i}": vistorch.ones(i + 1) for i in range(MOST + 5)}, sort="bytes")
    assert len(table.rows) == MOST
    assert table.rows[0].name == f"x{MOST + 4}"
    assert table.title.endswith(f"; the first {MOST} by bytes")


def test_time_is_bounded_and_rows_come_anyway():
    big = {f"x{i}": vistorch.ones(2_000_000, requires_grad=True) for i in range(6)}
    for x in big.values():
        x.grad = vistorch.ones(2_000_000)
    start = time.perf_counter()
    table = survey(big, seconds=0)
    assert time.perf_counter() - start < 0.1
    assert [row.grad_norm for row in table.rows] == [None] * 6
    assert [row.thumb for row in table.rows] == [None] * 6
    assert survey(big, seconds=60).rows[0].grad_norm == pytest.approx(math.sqrt(2_000_000))


def test_norms_of_every_dtype():
    for dtype in (vistorch.float16, vistorch.bfloat16, vistorch.float32, vistorch.complex64):
        x = vistorch.ones(3, dtype=dtype, requires_grad=True)
        x.grad = vistorch.full((3,), 100.0, dtype=dtype)
        assert rows(x=x)["x"].grad_norm == pytest.approx(100 * math.sqrt(3), rel=0.01)


def test_nothing_is_kept_alive_or_changed():
    x = vistorch.ones(3, requires_grad=True)
    before = x._version
    table = survey({"x": x})
    ref = weakref.ref(x)
    assert x._version == before
    del x
    gc.collect()
    assert ref() is None
    assert table.rows[0].name == "x"


def test_text_is_aligned_and_says_what_to_do_when_empty():
    text = survey({"x": vistorch.ones(2, 3), "long_name": np.zeros(1)}).text()
    lines = text.splitlines()
    assert lines[1].split() == ["name", "kind", "shape", "dtype", "device", "bytes", "grad", "grad", "norm"]
    assert lines[3].index("tensor") == lines[2].index("array") == lines[1].index("kind")
    assert survey({}).text() == "no tensors, modules or arrays here: make one, as in x = vistorch.ones(3)"


def test_the_state_travels():
    from vistorch.widgets._frame.wire import pack, unpack

    table = survey({"x": vistorch.randn(40, 40), "net": nn.Linear(3, 3), "e": vistorch.ones(0, 3)})
    kind, state = unpack(pack(table.kind, table.wire()))
    assert kind == "vars"
    assert set(state["rows"][0]) == set(Row.__dataclass_fields__)
    assert [row["shape"] for row in state["rows"]] == [[0, 3], None, [40, 40]]


def test_natural_order_of_names():
    names = {"x10": np.zeros(1), "x9": np.zeros(1), "y": 3, "a": np.zeros(1)}
    assert names_worth_looking_at(names) == ["a", "x9", "x10"]


@pytest.mark.parametrize(
    ("number", "says"), [(0, "0 bytes"), (9_999, "9,999 bytes"), (10_000, "10.0 kB"), (2.5e15, "2500.0 TB")]
)
def test_said_bytes(number, says):
    assert said_bytes(int(number)) == says


def test_the_magic_and_the_function(type_in, shell):
    type_in("import vistorch\nx = vistorch.ones(3)\n_h = x\nhidden = 3")
    text = type_in("%vt vars").out
    assert re.search(r"^x +tensor", text, re.M)
    assert "_h" not in text and "hidden" not in text
    assert [row.name for row in vt.vars().record.rows] == ["x"]
    assert [row.name for row in vt.vars({"b": np.zeros(1)}).record.rows] == ["b"]
    with pytest.raises(vt.Refusal, match="there is no column 'byte'; did you mean bytes"):
        vt.vars(sort="byte")
    with pytest.raises(vt.Refusal, match="there is no kind 'tensors'; did you mean tensor"):
        vt.vars(kind="tensors")


def test_outside_of_a_shell_it_is_the_module_of_the_caller():
    names = {"vt": vt, "here": np.zeros(1), "made": None}
    exec("found = vt.vars()", names)
    assert [row.name for row in names["found"].record.rows] == ["here"]


def test_names_of_a_running_function_are_seen(type_in):
    type_in(
        "import vistorch\ndef f():\n    inside = vistorch.ones(2)\n    get_ipython().run_line_magic('vt', 'vars')"
    )
    assert re.search(r"^inside +tensor", type_in("f()").out, re.M)
