"""Opening oneDNN: whatever is wrong with it ends in one sentence and numpy's kernels, in a process of its own."""

import ctypes
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

import vistorch as L
from vistorch.engine.kernels.fast.switch import onednn
from vistorch.engine.kernels.onednn import library

there = pytest.mark.skipif(not onednn.available(), reason=f"needs oneDNN: {onednn.why}")
PRODUCT = """
import numpy as np, vistorch as L
x = L.ones(2, 16, 32, 32)
y = L.nn.functional.conv2d(x, L.ones(16, 16, 3, 3))
assert y[0, 0, 5, 5].item() == 144.0
m = L.ones(128, 128) @ L.ones(128, 128)
assert m[0, 0].item() == 128.0
print("in use:", L.backends.mkldnn.is_available())
from vistorch.engine.kernels.fast.switch import onednn
print(onednn.describe())
"""


def run(code, **environment):
    """Run a program and return its lines; it must not be killed."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


def unavailable(says, **environment):
    used, why = run(PRODUCT, **environment)
    assert used == "in use: False"
    assert says in why
    assert "\n" not in why


def test_a_file_that_is_not_there():
    unavailable("/nowhere/libdnnl.so.3 cannot be loaded", VISTORCH_ONEDNN="/nowhere/libdnnl.so.3")


def test_a_file_that_is_no_library(tmp_path):
    path = tmp_path / "libdnnl.so.3"
    path.write_bytes(b"\x7fELF" + bytes(range(256)) * 10)
    unavailable(f"{path} cannot be loaded", VISTORCH_ONEDNN=str(path))


def test_another_library():
    name = "libm.so.6" if sys.platform == "linux" else ctypes.__file__
    unavailable(name, VISTORCH_ONEDNN=name)


def test_switched_off():
    unavailable("VISTORCH_ONEDNN switches it off", VISTORCH_ONEDNN="off")


@there
@pytest.mark.parametrize("isa", ["SSE41", "AVX"])
def test_a_processor_without_avx2(isa):
    unavailable("no AVX2", ONEDNN_MAX_CPU_ISA=isa)


@there
def test_a_processor_with_avx2_only():
    used, why = run(PRODUCT, ONEDNN_MAX_CPU_ISA="AVX2")
    assert used == "in use: True"
    assert why.startswith("oneDNN 3")


@there
def test_it_is_opened_at_the_first_large_call_and_not_before():
    lines = run(
        "import vistorch as L, sys\n"
        "from vistorch.engine.kernels.fast.switch import onednn\n"
        "def loaded(): return 'vistorch.engine.kernels.onednn.library' in sys.modules\n"
        "x = L.ones(8, 8, requires_grad=True)\n"
        "L.nn.functional.softmax(x @ x, 1).sum().backward()\n"
        "print(onednn.tried, loaded())\n"
        "L.ones(200, 200) @ L.ones(200, 200)\n"
        "print(onednn.tried, loaded())\n"
    )
    assert lines == ["False False", "True True"]


@pytest.mark.parametrize(
    ("version", "says"),
    [
        ({"major": 2, "minor": 6, "patch": 3, "runtime": 2}, "oneDNN 2.6.3, and version 3 is needed"),
        ({"major": 4, "minor": 0, "patch": 0, "runtime": 2}, "oneDNN 4.0.0, and version 3 is needed"),
        ({"major": 3, "minor": 1, "patch": 0, "runtime": 4}, "threads are not OpenMP's"),
    ],
)
def test_another_version_is_refused_before_anything_is_computed(monkeypatch, version, says):
    def answer():
        return SimpleNamespace(contents=SimpleNamespace(**version))

    fake = SimpleNamespace(dnnl_version=answer)
    monkeypatch.setattr(library.C, "CDLL", lambda path: fake)
    monkeypatch.setattr(library.C, "PyDLL", lambda path: fake)
    with pytest.raises(library.Unavailable, match=says):
        library.Library("libold.so")


@there
@pytest.mark.parametrize("status", [0, 2])
def test_a_library_that_computes_nothing_is_refused(monkeypatch, status):
    sign = library.Library._sign

    def signed(self, held):
        sign(self, held)
        self.execute = lambda *args: status

    monkeypatch.setattr(library.Library, "_sign", signed)
    with pytest.raises(library.Unavailable, match="computes a small relu wrongly"):
        library.Library(library.candidates()[0])


@there
def test_opening_makes_no_code_for_products():
    """That of the first one takes longer than all the rest of the opening."""
    lines = run(
        "import vistorch as L\n"
        "from vistorch.engine.kernels.fast.switch import onednn\n"
        "from vistorch.engine.kernels.onednn import library\n"
        "called = []\n"
        "sign = library.Library._sign\n"
        "def signed(self, held):\n"
        "    sign(self, held)\n"
        "    sgemm = self.sgemm\n"
        "    self.sgemm = lambda *args: called.append(args) or sgemm(*args)\n"
        "library.Library._sign = signed\n"
        "print(onednn.available(), len(called))\n"
        "L.ones(128, 128) @ L.ones(128, 128)\n"
        "print(len(called))\n"
    )
    assert lines == ["True 0", "1"]


@there
def test_a_thousand_shapes_keep_a_bound(monkeypatch):
    import numpy as np

    from vistorch.engine.kernels.onednn import pointwise, primitives

    monkeypatch.setattr(primitives, "OFTEN", 0)
    for n in range(3000, 3000 + 2 * primitives.LIMIT):
        pointwise.eltwise(pointwise.GELU, np.zeros(n, "f4"))
    assert len(primitives._mine.kept) <= primitives.LIMIT
    x = np.linspace(-1, 1, 3000, dtype="f4")  # the first of them, made anew
    assert abs(pointwise.eltwise(pointwise.GELU, x)).max() < 1


@there
def test_shapes_that_never_come_again_get_no_primitives():
    import numpy as np

    from vistorch.engine.kernels.onednn import pointwise, primitives

    def gelu(n):
        return pointwise.eltwise(pointwise.GELU, np.ones(n, "f4")) is not None

    primitives.forget()
    made = [gelu(n) for n in range(5000, 5400)]
    assert made == [True] * primitives.RECENT + [False] * (400 - primitives.RECENT)
    assert gelu(5000)  # what is there is used
    assert [gelu(6000) for _ in range(2 * primitives.OFTEN)].index(True) == primitives.OFTEN - 1
    # which kernel runs, and so the rounding, depends on what ran before; not where results are to be deterministic
    assert not gelu(6001)
    L.use_deterministic_algorithms(True)
    try:
        assert gelu(6002) and gelu(6001)
    finally:
        L.use_deterministic_algorithms(False)
    primitives.forget()
    # a program with many shapes that do come again
    for _ in range(primitives.OFTEN):
        assert all(gelu(n) for n in range(5000, 5000 + primitives.RECENT))
    assert all(gelu(n) for n in range(7000, 7000 + primitives.RECENT // 2))
    primitives.forget()


@there
def test_lstm_layers_of_all_lengths_go_back_too():
    from vistorch.engine.kernels.onednn import primitives

    primitives.forget()
    net = L.nn.LSTM(64, 64)
    for steps in range(20, 20 + primitives.RECENT + 5):
        x = L.ones(steps, 2, 64, requires_grad=True)
        # so often that forward passes are made for every length, and backward passes not
        for _ in range(primitives.OFTEN):
            out = net(x)[0]
        out.sum().backward()
        assert x.grad.isfinite().all()
    primitives.forget()


@there
def test_threads_of_the_program_have_calls_of_their_own():
    from concurrent.futures import ThreadPoolExecutor

    import numpy as np

    from vistorch.engine.kernels.onednn import pointwise

    def work(seed):
        x = np.random.default_rng(seed).standard_normal(5000).astype("f4")
        return [pointwise.eltwise(pointwise.TANH, x + np.float32(i)) for i in range(50)]

    want = [work(seed) for seed in range(8)]
    with ThreadPoolExecutor(8) as pool:
        for got, right in zip(pool.map(work, range(8)), want, strict=True):
            for a, b in zip(got, right, strict=True):
                np.testing.assert_array_equal(a, b)
