"""Values of torch tensors as pictures: every dtype and layout has one, or a sentence."""

import warnings
import weakref

import ml_dtypes
import numpy as np
import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

import vistorch
from vistorch import vt
from vistorch.debug.array import strip
from vistorch.debug.device_reads import Batch
from vistorch.debug.source import named
from vistorch.debug.variables import survey
from vistorch.torch_source import values
from vistorch.widgets._frame.display import Display
from vistorch.widgets._frame.tiles import Tiles
from vistorch.widgets.array.record_of import Wish, make

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16",
    "float32", "float64", "complex32", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2",
    "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu",
]  # fmt: skip
DTYPES = [name for name in DTYPES if hasattr(torch, name)]  # float8_e8m0fnu came with torch 2.7


def shown(t, **options):
    return vt.show(t, **options).record.items[0]


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.filterwarnings("ignore:ComplexHalf")
def test_every_dtype_has_its_values(name):
    dtype = getattr(torch, name)
    t = torch.tensor([[1.0, 0.0, 2.0], [4.0, 0.5, 1.0]]).to(dtype)
    wide = t.to(torch.complex128 if dtype.is_complex else torch.float64)
    got = values.host(t)
    assert np.array_equal(got.astype(wide.numpy().dtype), wide.numpy())
    assert values.host(t.t()).shape == (3, 2)
    item = shown(t)
    assert item.dtype == name and item.shape == (2, 3)


def of_dtype(dtype):
    """A tensor of any dtype: with values where something can be converted to it, else with some bits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return torch.tensor([[1.0, 0.0, 2.0], [4.0, 0.5, 1.0]]).to(dtype)
        except (RuntimeError, TypeError, NotImplementedError):
            return torch.empty(2, 4, dtype=dtype)


ALL = sorted({value for value in vars(torch).values() if isinstance(value, torch.dtype)}, key=str)


@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.filterwarnings("ignore:ComplexHalf")
def test_every_dtype_there_is_has_a_picture_or_a_sentence(dtype):
    t = of_dtype(dtype)
    name = values.name_of(dtype)
    try:
        item = shown(t)
    except vt.Refusal as refused:
        assert t.is_quantized, "only what has no quantizer has no values"
        assert "\n" not in str(refused) and name in str(refused)
    else:
        assert item.dtype == name
    row = vt.vars(namespace={"t": t, "other": torch.ones(2)}).record.rows
    assert {one.name for one in row} == {"t", "other"} and next(r for r in row if r.name == "t").dtype == name


def test_the_bits_of_a_type_that_nothing_is_computed_in_are_shown():
    t = torch.tensor([[1, 2], [3, 200]], dtype=torch.uint8).view(torch.bits8)
    assert values.host(t).tolist() == [[1, 2], [3, 200]] and "shown as its bytes" in shown(t).notes


@pytest.mark.filterwarnings("ignore:The PyTorch API of MaskedTensors")
def test_a_subclass_that_gives_no_values_is_answered_in_a_sentence():
    t = torch.masked.masked_tensor(torch.ones(2, 3), torch.eye(3)[:2] > 0)
    with pytest.raises(vt.Refusal, match="of class MaskedTensor cannot be read"):
        vt.show(t)
    row = vt.vars(namespace={"t": t}).record.rows[0]
    assert row.thumb is None and "MaskedTensor" in row.says


LAYOUTS = {
    "transposed": lambda x: x.t(),
    "a step of two": lambda x: x[:, ::2],
    "expanded": lambda x: x[:1].expand(5, 4),
    "empty": lambda x: x[:0],
    "scalar": lambda x: x[0, 0],
    "leaf": lambda x: x.clone().requires_grad_(),
    "with history": lambda x: x.clone().requires_grad_() * 2,
    "conjugated": lambda x: torch.complex(x, x + 1).conj(),
    "negated": lambda x: torch.complex(x, x + 1).conj().imag,
    "zeros without memory": lambda x: torch._efficientzerotensor((2, 3)),
    "coo": lambda x: x.to_sparse(),
    "csr": lambda x: x.to_sparse_csr(),
    "csc": lambda x: x.to_sparse_csc(),
    "bsr": lambda x: x.to_sparse_bsr((1, 2)),
    "bsc": lambda x: x.to_sparse_bsc((3, 2)),
    "coo of rows": lambda x: x.to_sparse(1),
    "coo, twice the same": lambda x: torch.sparse_coo_tensor([[0, 0], [1, 1]], [1.0, 2.0], (3, 4)),
    "coo of complex numbers, conjugated": lambda x: (x * 1j).to_sparse().conj(),
    "coo of half precision": lambda x: x.half().to_sparse(),
    "coo that requires grad": lambda x: x.to_sparse().requires_grad_(),
    "several csr": lambda x: torch.stack([x, x]).to_sparse_csr(),
    "conjugated and transposed": lambda x: torch.complex(x, x + 1).mH,
    "mkldnn, bfloat16": lambda x: x.to_mkldnn(torch.bfloat16).to_dense(torch.float32),
    "quantized by channel": lambda x: torch.quantize_per_channel(
        x, torch.ones(3), torch.zeros(3), 0, torch.quint8
    ),
    "mkldnn": lambda x: x.to_mkldnn(),
    "quantized": lambda x: torch.quantize_per_tensor(x, 0.5, 0, torch.qint8),
    "inference": lambda x: _inferred(x),
    "subclass": lambda x: x.as_subclass(Named),
    "parameter": lambda x: nn.Parameter(x),
    "channels last": lambda x: x.reshape(1, 3, 2, 2).contiguous(memory_format=torch.channels_last),
}


class Named(torch.Tensor):
    """A subclass of a user's."""


def _inferred(x):
    with torch.inference_mode():
        return x * 2


def dense(t):
    if t.layout is not torch.strided:
        t = t.to_dense()
    return (t.dequantize() if t.is_quantized else t).detach().resolve_conj().resolve_neg()


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.filterwarnings("ignore:Sparse|torch.quantize")
def test_every_layout_has_its_values(name):
    x = torch.arange(12.0).reshape(3, 4) / 2
    t = LAYOUTS[name](x)
    version = None if t.is_inference() else t._version
    assert np.array_equal(values.host(t), dense(t).clone().numpy(force=True))
    item = shown(t)
    assert item.shape == tuple(t.shape)
    assert version is None or t._version == version
    assert t.is_leaf == LAYOUTS[name](x).is_leaf


class Far(torch.Tensor):
    """Stands in for a tensor on a CUDA device, and counts what comes over."""

    crossed: list = []  # noqa: RUF012

    @staticmethod
    def __new__(cls, near, requires_grad=False):
        return torch.Tensor._make_wrapper_subclass(
            cls,
            near.shape,
            strides=near.stride(),
            dtype=near.dtype,
            device="cuda:0",
            requires_grad=requires_grad,
        )

    def __init__(self, near, requires_grad=False):
        self.near = near

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        ins = [cls.behind(one) for one in args]
        name = func._schema.name.partition("::")[2]
        if name == "_local_scalar_dense" or (name == "_to_copy" and str(kwargs.get("device")) == "cpu"):
            cls.crossed.append(ins[0].numel())
            return func(*ins, **kwargs)
        out = func(*ins, **{key: value for key, value in kwargs.items() if key != "device"})
        return Far(out) if isinstance(out, torch.Tensor) else out

    @classmethod
    def behind(cls, one):
        """What stands behind an argument, also in a list of them."""
        if isinstance(one, (list, tuple)):
            return [cls.behind(each) for each in one]
        return one.near if isinstance(one, cls) else one


def test_many_tensors_on_a_device_come_over_at_once(monkeypatch):
    cat = torch.cat  # which looks for the device before it dispatches
    monkeypatch.setattr(torch, "cat", lambda parts: Far(cat(Far.behind(parts))))
    parts = {
        "a": torch.randn(3, 4),
        "b": torch.arange(5),
        "c": torch.ones(2, 2, dtype=torch.bfloat16),
        "d": torch.tensor(True),
        "f": torch.randn(2) + 1j,
    }
    far = {name: Far(t) for name, t in parts.items()}
    Far.crossed.clear()
    there = strip(far).wire()
    assert len(Far.crossed) == 1
    for item, expected in zip(there["items"], strip(parts).wire()["items"], strict=True):
        assert repr(item["layers"]) == repr(expected["layers"])
    Far.crossed.clear()
    rows = survey(far, seconds=60).wire()["rows"]
    assert len(Far.crossed) == 1
    for row, expected in zip(rows, survey(parts, seconds=60).wire()["rows"], strict=True):
        assert row["device"] == "cuda:0" and row["number"] == expected["number"]
        assert repr(row["thumb"]) == repr(expected["thumb"])


def test_the_norm_of_a_gradient_is_computed_where_it_is():
    w = torch.nn.Parameter(torch.randn(300, 300))
    squares = values.square(Far(w.detach()))
    assert isinstance(squares, Far) and squares.numel() == 1
    batch = Batch()
    Far.crossed.clear()
    answer = batch.ask(squares, [squares], lambda parts: float(parts[0]))
    assert answer.value == pytest.approx(float(w.detach().double().square().sum())) and Far.crossed == [1]


@pytest.mark.parametrize(
    ("dtype", "requires_grad"),
    [
        *[
            (dtype, grad)
            for dtype in ("float32", "bfloat16", "float8_e5m2", "complex64")
            for grad in (False, True)
        ],
        ("bool", False),
        ("int64", False),
    ],
)
def test_a_tensor_on_a_device_comes_over_once_and_no_more_of_it_than_is_shown(dtype, requires_grad):
    near = torch.randn(6, 8).to(getattr(torch, dtype))
    part = near[1:4]
    far = Far(part, requires_grad)
    Far.crossed.clear()
    made = values.array(far, True)
    assert Far.crossed == [part.numel()]
    assert np.array_equal(np.asarray(made.data, np.complex128), np.asarray(values.host(part), np.complex128))
    want = repr(part.clone().requires_grad_(requires_grad))
    assert made.text.replace(", device='cuda:0'", "").split() == want.split() and made.device == "cuda:0"
    Far.crossed.clear()
    assert shown(far).device == "cuda:0" and Far.crossed == [part.numel()]
    Far.crossed.clear()
    values.host(far)
    assert Far.crossed == [part.numel()]


def test_what_a_layout_is_stands_in_the_notes():
    x = torch.eye(3)
    assert shown(x.to_sparse()).notes == ["sparse (coo), 3 stored"]
    assert "expanded: 3 stored" in shown(x[:1].expand(4, 3)).notes
    assert "requires grad" in shown(x.clone().requires_grad_()).notes
    assert shown(x.as_subclass(Named)).notes[0] == "Named"


def without_values():
    """Tensors that have no picture, and what is said of each."""
    with FakeTensorMode():
        fake = torch.ones(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
        jagged = torch.nested.nested_tensor([torch.ones(2, 1), torch.ones(3, 1)], layout=torch.jagged)
        large = torch.sparse_coo_tensor(
            torch.zeros(2, 1, dtype=torch.long), torch.ones(1), (1 << 20, 1 << 20)
        )
    return {
        "meta": (torch.empty(2, 3, device="meta"), "a meta tensor of shape"),
        "fake": (fake, "a fake tensor of shape"),
        "nested": (nested, "a nested tensor has no one shape"),
        "jagged": (jagged, "a nested tensor has no one shape"),
        "sparse and large": (large, "too large to be drawn dense"),
        "lazy": (nn.LazyLinear(2).weight, "it has no shape yet"),
    }


@pytest.mark.parametrize("name", ["meta", "fake", "nested", "jagged", "sparse and large", "lazy"])
def test_what_has_no_values_is_answered_with_a_sentence(name):
    t, sentence = without_values()[name]
    with pytest.raises(vt.Refusal, match=sentence) as refused:
        vt.show(t)
    assert "\n" not in str(refused.value)
    row = vt.vars(namespace={"t": t}).record.rows[0]
    assert row.kind in ("tensor", "parameter") and row.thumb is None
    strip = vt.show({"ok": torch.ones(2), "not": t}).record
    assert [item.name for item in strip.items] == ["ok"] and any(sentence in says for says in strip.says)


def test_inside_a_transform_there_is_a_sentence():
    said = []

    def look(x):
        with pytest.raises(vt.Refusal, match=r"inside a transform of torch\.func") as refused:
            vt.show(x)
        said.append(str(refused.value))
        return x.sum()

    torch.vmap(look)(torch.ones(2, 3))
    torch.func.grad(look)(torch.ones(3))
    assert len(said) == 2


def test_a_module_is_a_strip_with_its_gradients():
    net = nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 1))
    net(torch.ones(1, 3)).sum().backward()
    record = vt.show(net).record
    roles = [(item.name, item.role) for item in record.items]
    assert roles[:2] == [("0.weight", "value"), ("0.weight", "gradient")] and len(roles) == 8
    assert record.items[0].dims == ("out", "in")
    assert any("PyTorch's optimizers" in says for says in record.says)


def test_a_parameter_stands_beside_its_gradient():
    w = nn.Parameter(torch.ones(2, 3))
    (w * w).sum().backward()
    record = vt.show(w, name="w").record
    assert [(item.role, item.layers[0].stats.max) for item in record.items] == [
        ("value", 1.0),
        ("gradient", 2.0),
    ]
    assert vt.show(w, grad=True).record.items[0].layers[0].stats.max == 2.0
    with pytest.raises(vt.Refusal, match="has no gradient yet"):
        vt.show(nn.Parameter(torch.ones(2)), grad=True, name="fresh")


def test_a_table_of_names_says_what_shares_memory():
    x = torch.randn(3, 4, requires_grad=True)
    net = nn.Linear(4, 2)
    net(x).sum().backward()
    rows = {
        row.name: row
        for row in vt.vars(namespace={"x": x, "view": x.t(), "net": net, "n": np.ones(2)}).record.rows
    }
    assert rows["view"].says == "view of x" and rows["net"].kind == "module"
    assert rows["x"].grad_norm == pytest.approx(float(x.grad.norm()), rel=1e-5)
    assert (rows["x"].nbytes, rows["x"].dtype, rows["x"].requires_grad) == (48, "float32", True)
    assert rows["net"].says.startswith("Linear: 10 values in 2 parameters")


def test_the_source_hands_no_tensor_on():
    t = torch.ones(2, 3, requires_grad=True)
    array = named("torch").array(t, True)
    assert isinstance(array.data, np.ndarray) and array.text.startswith("tensor(")
    assert values.host(torch.ones(2, dtype=torch.bfloat16)).dtype == ml_dtypes.bfloat16


def test_the_default_device_and_the_modes_of_a_program_do_not_matter():
    with torch.device("meta"):
        assert shown(torch.ones(2, device="cpu")).shape == (2,)
    with torch.inference_mode():
        assert shown(torch.ones(2)).shape == (2,)
    assert vistorch.is_grad_enabled() and torch.is_grad_enabled()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex64"])
def test_a_large_tensor_gives_exact_values_of_a_part(dtype):
    t = torch.randn(900, 700).to(getattr(torch, dtype)).requires_grad_()
    made = make(t, Wish("t"))
    assert made.record.items[0].pooled
    tiles = Tiles(Display(made.record, "t").state()["items"], made.sources)
    header, (raw,) = tiles.answer(
        {"id": 1, "item": 0, "layer": 0, "start": [5, 6], "stop": [8, 10], "block": [1, 1]}
    )
    want = t.detach()[5:8, 6:10].abs() if dtype == "complex64" else t.detach()[5:8, 6:10].float()
    got = np.frombuffer(raw, np.float32).reshape(header["values"]["shape"])
    assert np.allclose(got, want.numpy(), rtol=1e-6)


def test_a_shown_tensor_is_not_kept_alive():
    t = torch.randn(900, 700)
    gone = weakref.ref(t)
    shown = vt.show(t)
    del t
    assert gone() is None and shown.record.items[0].shape == (900, 700)


def test_zeros_that_take_no_memory_are_zeros():
    zeros = torch._efficientzerotensor((2, 3))
    assert values.placed(zeros)[0].tolist() == values.host(zeros).tolist() == [[0.0] * 3] * 2
