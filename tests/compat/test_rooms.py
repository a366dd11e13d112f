"""Modules that vistorch has little of: what programs ask is answered, what they use is refused when it is used."""

import copy
import importlib
import pickle
import typing
import warnings

import numpy as np
import pytest

import vistorch
from tests.compat.run import python
from tests.ops.library import torch
from tests.reference import CPU_BUILD
from tests.story import story
from vistorch.engine.base import dtypes
from vistorch.torch_api import rare_names, unbuilt


@pytest.mark.parametrize("row", unbuilt.ROWS, ids=lambda row: row.module or "vistorch")
def test_importing_is_allowed_and_using_is_refused(row):
    path = f"vistorch.{row.module}" if row.module else "vistorch"
    module = importlib.import_module(path)
    names = f"{row.functions} {row.classes}".split()
    assert names and all(hasattr(module, name) for name in names)
    for name in names:
        with pytest.raises(NotImplementedError) as caught:
            getattr(module, name)(1, x=2)
        assert str(caught.value) == f"{path}.{name} is not built: {row.why}"


@pytest.mark.parametrize("row", rare_names.ROWS, ids=lambda row: row[0])
def test_what_programs_hardly_use_is_found_and_refused_at_the_call(row):
    modules, why, functions, classes = row
    for own in modules.split():
        path = "vistorch" if own == "torch" else f"vistorch.{own}"
        module = importlib.import_module(path)
        for name in f"{functions} {classes}".split():
            assert name not in dir(module) or name in vars(module)
            with pytest.raises(NotImplementedError) as caught:
                getattr(module, name)(1, x=2)
            assert str(caught.value) == f"{path}.{name} is not built: {why}"
        for name in classes.split():
            kind = getattr(module, name)
            assert isinstance(kind, type) and not isinstance(vistorch.ones(1), kind)

            class Mine(kind):
                pass

            with pytest.raises(NotImplementedError, match="is not built"):
                Mine()


def test_the_table_of_rare_names_is_loaded_when_a_name_is_asked_for():
    program = """
import sys, vistorch
loaded = lambda: sorted(name for name in sys.modules if name.endswith(("unbuilt", "rare_names", "rare_values")))
import vistorch.nn.functional, vistorch.optim, vistorch.utils.data
assert not loaded(), loaded()
assert not hasattr(vistorch.nn.functional, "wobble") and not hasattr(vistorch.cuda, "wobble")
assert "vistorch.rare_values" not in loaded() and "vistorch.torch_api.rare_names" in loaded()
assert "Graph" not in dir(vistorch) and vistorch.Graph.__name__ == "Graph"
assert vistorch.nn.functional.assert_int_or_pair((1, 2), "a", "b") is None and "vistorch.rare_values" in loaded()
try:
    vistorch.cuda.wobble
except AttributeError as error:
    assert str(error) == "module 'vistorch.cuda' has no attribute 'wobble'", error
"""
    done = python("-c", program)
    assert done.returncode == 0, done.stderr


def test_rare_sentences_go_by_the_name_of_the_program():
    program = """
from vistorch.compat import alias_torch
alias_torch()
import torch
from torch.nn.functional import scaled_mm
from torch import Graph, qscheme, ScriptDict
assert isinstance(torch.per_tensor_affine, qscheme) and repr(torch.qint8) == "torch.qint8"
for call in (scaled_mm, Graph, ScriptDict, torch.cuda.FloatStorage, lambda: torch.zeros(2, dtype=torch.int4)):
    try:
        call()
    except NotImplementedError as error:
        assert str(error).startswith("torch.") and "vistorch." not in str(error), error
    else:
        raise AssertionError(call)
"""
    done = python("-c", program)
    assert done.returncode == 0, done.stderr


def test_types_that_are_names_alone():
    table = {getattr(vistorch, name): name for name in dtypes.NAMES_ALONE}
    for one, name in table.items():
        assert isinstance(one, vistorch.dtype) and repr(one) == f"vistorch.{name}"
        theirs = getattr(torch, name)
        assert (one.itemsize, one.is_floating_point, one.is_complex) == (
            theirs.itemsize,
            theirs.is_floating_point,
            theirs.is_complex,
        )
        for call in (
            lambda one=one: vistorch.zeros(2, dtype=one),
            lambda one=one: vistorch.ones(2).to(one),
            lambda one=one: vistorch.tensor([1], dtype=one),
        ):
            with pytest.raises(NotImplementedError, match=rf"vistorch\.{name} is not built: .+\.$"):
                call()
        assert pickle.loads(pickle.dumps(one)) is one and copy.deepcopy(one) is one


def test_every_reason_is_a_sentence_and_every_name_stands_once():
    rows = [*unbuilt.ROWS, *(unbuilt.Row(*row) for row in unbuilt.private.ROWS)]
    rows += [unbuilt.Row(module, *row[1:]) for row in rare_names.ROWS for module in row[0].split()]
    names = [(row.module, name) for row in rows for name in f"{row.functions} {row.classes}".split()]
    assert len(names) == len(set(names)) and len(names) > 300
    assert [row.why for row in rows if not row.why.endswith(".")] == []


@pytest.mark.parametrize("module", [name for name in unbuilt.MODULES if name not in unbuilt.SAME])
def test_a_module_without_a_file_has_its_rows(module):
    parts = [other for other in unbuilt.MODULES if other.startswith(f"{module}.")]
    assert parts or module in {row.module for row in unbuilt.ROWS}
    made = importlib.import_module(f"vistorch.{module}")
    assert getattr(made, "__file__", None) is None and made.__doc__ == unbuilt.MODULES[module]


@story
def test_answers_of_what_is_not_built(L, report):
    for name in ("fx", "masked", "onnx"):
        importlib.import_module(f"{L.__name__}.{name}")
    double = (
        L.fx.wrap(lambda x: x * 2) if L is vistorch else (lambda x: x * 2)
    )  # torch's names a module's function
    report(double(2), L.masked.is_masked_tensor(L.ones(1)), L.onnx.is_in_onnx_export())


def test_asking_for_a_name_never_raises():
    for part in ("", ".compiler", ".cuda", ".jit", ".autograd", ".utils", ".version"):
        assert not hasattr(importlib.import_module("vistorch" + part), "wobble")


@story
def test_other_devices(L, report):
    report(L.xpu.is_available(), L.xpu.device_count(), L.mps.device_count(), L.is_vulkan_available())
    report(L.version.rocm, L.version.hip, L.version.xpu)
    report(issubclass(L.OutOfMemoryError, RuntimeError), L.cuda.OutOfMemoryError is L.OutOfMemoryError)
    report(issubclass(L.AcceleratorError, RuntimeError))


@story
def test_cuda_without_cuda(L, report):
    report(L.cuda.get_rng_state_all(), L.cuda.memory_stats(), L.cuda.memory_stats_as_nested_dict())
    report(report.warns(L.cuda.memory_cached), report.warns(L.cuda.max_memory_cached))
    if CPU_BUILD:
        report.raises(lambda: L.cuda.nvtx.range_push("x"))


def test_marks_of_a_timeline_without_cuda():
    with pytest.raises(
        RuntimeError, match=r"^NVTX functions not installed\. Are you sure you have a CUDA build\?$"
    ):
        vistorch.cuda.nvtx.range_push("x")


@story
def test_anomaly_switch(L, report):
    for on, nan in ((True, True), (True, False), (False, True)):
        L.set_anomaly_enabled(on, nan)
        report(L.is_anomaly_enabled(), L.is_anomaly_check_nan_enabled())
    L.set_anomaly_enabled(False)


@story
def test_in_place_functions(L, report):
    x = L.arange(6.0)
    report(L.as_strided_(x, (2, 2), (1, 2)), x, L.logit_(L.full((2,), 0.25)))


@story
def test_types_of_what_is_in_containers(L, report):
    asked = [
        ([1, 2], list[int]),
        ([1, 2.0], typing.List[int]),  # noqa: UP006
        ([[1], [2.0]], list[list[int]]),
        ({"a": 1}, dict[str, int]),
        ({"a": (1, "b")}, typing.Dict[str, typing.Tuple[int, str]]),  # noqa: UP006
        ({1: 1}, dict[str, int]),
        ((1, "a"), tuple[int, str]),
        ((1, "a", 2), tuple[int, str]),
        (None, typing.Optional[int]),  # noqa: UP045
        (1.5, int | str),
        (1, (str, list[int], int)),
        ({1}, set[int]),
        ((), list[int]),
        (L.ones(2), L.Tensor),
        ([L.ones(2)], list[L.Tensor]),
    ]
    for value, kind in asked:
        report(report.warns(lambda v=value, k=kind: L.jit.isinstance(v, k)))
    report(report.warns(lambda: L.jit.isinstance([], list[int])))
    for kind in (list, dict, typing.Tuple, typing.Dict, typing.Optional):  # noqa: UP006
        report.raises(lambda k=kind: L.jit.isinstance([1], k))


@story
def test_what_is_by_name_only_remembers(L, report):
    report(issubclass(L.jit.Error, RuntimeError))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = L.jit.set_fusion_strategy([("DYNAMIC", 3)])
        report(before, L.jit.set_fusion_strategy(before))
    for kind in ("flash", "mem_efficient", "math", "cudnn"):
        enable, enabled = f"enable_{kind}_sdp", f"{kind}_sdp_enabled"
        report(getattr(L.backends.cuda, enable).__name__, getattr(L.backends.cuda, enabled).__name__)


@story
def test_methods_and_properties_of_tensors(L, report):
    for value in (L.Tensor.backward, L.Tensor.shape.__get__, L.Tensor.grad.__get__, L.manual_seed):
        report(L.overrides.is_tensor_method_or_property(value))


def test_random_states_of_simulated_devices():
    cuda = vistorch.cuda
    cuda.simulate(2)
    try:
        states = cuda.get_rng_state_all()
        one = cuda.get_rng_state("cuda:1")
        first = [vistorch.rand(2, device=f"cuda:{i}").tolist() for i in range(2)]
        cuda.set_rng_state_all(states)
        assert [vistorch.rand(2, device=f"cuda:{i}").tolist() for i in range(2)] == first
        cuda.set_rng_state(one, "cuda:1")
        assert vistorch.rand(2, device="cuda:1").tolist() == first[1]
        assert vistorch.rand(2, device="cuda:0").tolist() != first[0]
        assert "Allocated memory" in cuda.memory_summary()
        with cuda.nvtx.range("step {}", 1):
            assert cuda.nvtx.range_push("inner") == 1
            assert cuda.nvtx.range_pop() == 1
    finally:
        cuda.simulate(None)


@story
def test_memory_of_a_file(L, report):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/numbers"
        t = L.from_file(path, shared=True, size=3)
        report(t)
        t.copy_(L.arange(3.0))
        report(L.from_file(path, size=3), L.from_file(path, shared=True, size=2, dtype=L.float32))
        report(L.from_file(path, size=0), L.from_file(path, size=2, dtype=L.int32))
        copy = L.from_file(path, shared=False, size=1)
        copy.fill_(9)
        report(L.from_file(path, size=1))
        for name in (path, folder + "/none"):
            with pytest.raises(RuntimeError) as caught:
                L.from_file(name, size=100)
            report(str(caught.value).replace(folder, ""))


def test_environment():
    done = python("-m", "vistorch.utils.collect_env")
    assert (
        f"vistorch version: {vistorch.__version__}" in done.stdout
        and f"numpy: {np.__version__}" in done.stdout
    )
    assert f"numpy {np.__version__}" in vistorch.__config__.show()
    assert "get_num_threads" in vistorch.__config__.parallel_info()


def test_streams():
    assert issubclass(vistorch.cuda.Stream, vistorch.Stream)


def test_return_types():
    pair = vistorch.ones(2, 2).max(0)
    assert (
        type(pair) is vistorch.return_types.max
        and vistorch.return_types.max in vistorch.return_types.all_return_types
    )


def test_no_memory_on_a_device():
    from vistorch.engine.base import errors

    kind = type("OutOfMemoryError", (MemoryError,), {"__module__": "cupy.cuda.memory"})
    assert type(errors.no_memory(kind("4 bytes"))) is vistorch.OutOfMemoryError
    assert type(errors.no_memory(MemoryError())) is RuntimeError
