"""Checks of what docs/differences.md says is not here, and of simulated devices."""

import importlib
import os
import subprocess
import sys
import warnings

import torch

import vistorch

from .sentences import claims, message


@claims(
    "A name of PyTorch that is not built can be imported, passed on, subclassed and asked for by `isinstance`; called, "
    "it says what to use in its place."
)
def refused_names():
    """The tests of `tests/compat` call all of them."""

    class Mine(vistorch.ScriptDict):
        pass

    assert not isinstance(vistorch.ones(1), vistorch.ScriptDict) and issubclass(Mine, vistorch.ScriptDict)
    for call in (Mine, vistorch.nn.functional.scaled_mm):
        assert " is not built: " in message(lambda L, call=call: call(), vistorch)


@claims("The few that are missing are in `tests/compat/missing.py`, with the reason.")
def missing_names():
    """`tests/compat/test_names.py` compares all of them; here, that the table has reasons and is about real names."""
    from tests.compat.missing import MISSING

    assert MISSING
    for module, why, names in MISSING:
        assert why and names, module


@claims(
    "Types: complex32, quantised types and those of less than 8 bits, which can be named and compared with; sparse and "
    "nested tensors."
)
def types():
    for name in ("quint8", "qint8", "qint32"):
        assert message(lambda L, name=name: L.zeros(1, dtype=getattr(L, name)), vistorch).startswith(
            f"NotImplementedError: vistorch.{name} is not built: "
        )
    assert vistorch.complex32 != vistorch.complex64 and str(vistorch.chalf) == "vistorch.complex32"
    for run in (
        lambda L: L.ones(2).to_sparse(),
        lambda L: (
            L.nested.nested_tensor([L.ones(1)], layout=L.jagged) if L is torch else L.nested.nested_tensor()
        ),
        lambda L: L.ones(1, dtype=L.complex32),
    ):
        assert message(run, vistorch).startswith("NotImplementedError: vistorch")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that complex32 is experimental
            run(torch)


@claims(
    "Tangents of `forward_ad` are read by a backward pass, so what is computed of a dual tensor requires grad."
)
def forward_mode():
    for L in (vistorch, torch):
        ad = importlib.import_module(f"{L.__name__}.autograd.forward_ad")
        with warnings.catch_warnings(), ad.dual_level():
            warnings.simplefilter("ignore", DeprecationWarning)  # PyTorch loads scripts for its formulas
            y = ad.make_dual(L.ones(2), L.ones(2)).exp()
            assert y.requires_grad is (L is vistorch)
            assert ad.unpack_dual(y).tangent.tolist() == y.detach().tolist()


@claims("bfloat16 through DLPack.")
def dlpack():
    assert message(vistorch.ones(2, dtype=vistorch.bfloat16).__dlpack__).startswith("BufferError: bfloat16")
    torch.ones(2, dtype=torch.bfloat16).__dlpack__()


@claims(
    "Memory formats other than contiguous are accepted where harmless; results of layers are contiguous, but for those "
    "of pooling and resizing, which lie as PyTorch's do."
)
def memory_formats():
    contiguous = []
    for L in (vistorch, torch):
        x = L.ones(1, 2, 3, 4).to(memory_format=L.channels_last)
        contiguous.append(L.nn.Conv2d(2, 2, 1)(x).is_contiguous())
    assert contiguous == [True, False]
    for run in (
        lambda L, x: L.nn.functional.max_pool2d(x, 2),
        lambda L, x: L.nn.functional.avg_pool2d(x, 2),
        lambda L, x: L.nn.functional.adaptive_avg_pool2d(x, 2),
        lambda L, x: L.nn.functional.interpolate(x, scale_factor=2),
    ):
        lain = [
            run(L, L.ones(1, 2, 4, 4).to(memory_format=L.channels_last)).stride() for L in (vistorch, torch)
        ]
        assert lain[0] == lain[1] and lain[0][1] == 1


@claims("`__torch_dispatch__`, and subclasses of Tensor without memory.")
def dispatch():
    assert hasattr(torch.Tensor, "_make_wrapper_subclass") and not hasattr(
        vistorch.Tensor, "_make_wrapper_subclass"
    )

    class Mine(vistorch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, *args, **kwargs):
            raise AssertionError("asked")

    assert (vistorch.ones(2).as_subclass(Mine) + 1).tolist() == [2, 2]


@claims(
    "`__torch_function__` is asked before functions, methods and properties that give tensors, not before `shape` and "
    "the like; a class that is no tensor is asked where `torch` names vistorch."
)
def asked_classes():
    """`tests/compat/test_torch_function.py` has the rest."""
    seen = {}
    for L in (vistorch, torch):

        class Mine(L.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                asked.append(func.__name__)  # noqa: B023
                return super().__torch_function__(func, types, args, kwargs or {})

        x, asked = L.ones(2, 3).as_subclass(Mine), []
        seen[L] = asked
        assert x.shape == (2, 3) and type(x.T) is type(x + 1) is Mine
    assert seen == {vistorch: ["__get__", "add"], torch: ["__get__", "__get__", "add"]}
    program = """
class Duck:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__
print(torch.neg(Duck()))"""
    command = [
        sys.executable,
        "-c",
        f"from vistorch.compat import alias_torch; alias_torch(); import torch{program}",
    ]
    assert subprocess.run(command, capture_output=True, text=True).stdout == "neg\n"
    done = subprocess.run(
        [sys.executable, "-c", f"import vistorch as torch{program}"], capture_output=True, text=True
    )
    assert "must be Tensor, not Duck" in done.stderr


@claims("Second derivatives of `ctc_loss`, `multi_margin_loss`, `multilabel_margin_loss` (as in PyTorch).")
def second_derivatives():
    def run(L, loss):
        x = L.linspace(0, 1, 12).reshape(4, 3).requires_grad_()
        F = L.nn.functional
        value = {
            "ctc": lambda: F.ctc_loss(
                x.log_softmax(-1).reshape(4, 1, 3), L.tensor([[1]]), L.tensor([4]), L.tensor([1])
            ),
            "margin": lambda: F.multi_margin_loss(x, L.tensor([0, 1, 2, 0])),
            "labels": lambda: F.multilabel_margin_loss(x, L.tensor([[0, -1, 0]] * 4)),
        }[loss]()
        (slope,) = L.autograd.grad(value, x, create_graph=True)
        slope.pow(2).sum().backward()

    for loss in ("ctc", "margin", "labels"):
        ours, theirs = (message(run, L, loss) for L in (vistorch, torch))
        assert ours == theirs and "is not implemented" in ours


@claims("The grouped and scaled matrix products on float8, which is a type to store and convert.")
def float8():
    for name in ("_scaled_mm", "_grouped_mm"):
        assert hasattr(torch, name) and not hasattr(vistorch, name)
    for L in (vistorch, torch):
        assert L.tensor([1.06, 3.0]).to(L.float8_e4m3fn).float().tolist() == [1.0, 3.0]


@claims("Reading ImageNet: `vision.datasets.ImageNet` says to extract it and use `ImageFolder`.")
def imagenet():
    said = message(vistorch.vision.datasets.ImageNet, "data")
    assert said.startswith("NotImplementedError") and "ImageFolder" in said


def in_a_new_process(program, **environment):
    """Run Python with these variables; return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", "import vistorch\nfrom vistorch import cuda\n" + program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.split()


@claims(
    "`VISTORCH_SIMULATED_CUDA=4`, or `vistorch.cuda.simulate(4)`, gives CUDA devices that are numpy on "
    "the CPU."
)
def simulated():
    program = "print(cuda.device_count()); print(type(vistorch.ones(1, device='cuda:3')._data).__module__)"
    assert in_a_new_process(program, VISTORCH_SIMULATED_CUDA="4", CUDA_VISIBLE_DEVICES="") == ["4", "numpy"]
    vistorch.cuda.simulate(4)
    try:
        assert vistorch.cuda.device_count() == 4
        assert str(vistorch.ones(2, device="cuda:3").device) == "cuda:3"
    finally:
        vistorch.cuda.simulate(None)


@claims(
    "They refuse to mix with each other as real ones do, say in their name that they are simulated, and "
    "claim no speed."
)
def apart():
    vistorch.cuda.simulate(2)
    try:
        said = message(lambda: vistorch.ones(1, device="cuda:0") + vistorch.ones(1, device="cuda:1"))
        assert "found at least two devices, cuda:0 and cuda:1!" in said
        assert (
            vistorch.cuda.get_device_name(1) == "Simulated CUDA device 1 (numpy on the CPU, no speed claimed)"
        )
    finally:
        vistorch.cuda.simulate(None)


@claims("Their random numbers are those PyTorch gives on an H100 for the same seed.")
def random_numbers():
    vistorch.cuda.simulate(1)
    try:
        vistorch.manual_seed(1)
        values = vistorch.randn(9483264, device="cuda")
        # printed by PyTorch 2.5 on such a card
        assert (
            str(values)
            == "tensor([-0.2963,  2.6764, -0.1408,  ..., -0.6970, -0.7780,  0.3267],\n       device='cuda:0')"
        )
    finally:
        vistorch.cuda.simulate(None)


@claims(
    "`CUDA_VISIBLE_DEVICES=0,1` selects among them, as among real ones; an empty one hides real devices only."
)
def visible():
    program = """
import importlib
import os
from vistorch.engine.kernels import simulated
for text in ("0,1", "3", "", "2,9,1", "GPU-1f"):
    os.environ["CUDA_VISIBLE_DEVICES"] = text
    simulated.set_count(None)
    print(cuda.device_count())
"""
    assert in_a_new_process(program, VISTORCH_SIMULATED_CUDA="4") == ["2", "1", "4", "1", "4"]


@claims(
    "Their pinned memory is ordinary memory that is believed: `pin_memory()` returns a copy whose `is_pinned()` is "
    "True."
)
def pinned():
    vistorch.cuda.simulate(1)
    try:
        x = vistorch.ones(2)
        pinned = x.pin_memory()
        assert pinned is not x and pinned.is_pinned() and not x.is_pinned()
    finally:
        vistorch.cuda.simulate(None)
