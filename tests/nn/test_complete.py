"""Every class and function of torch.nn is here and has a record, but for the ones listed with a reason."""

import inspect

from tests.nn.samples import LAYERS
from tests.ops.library import L, torch
from tests.ops.samples import OPS

# Bases, an old name of NLLLoss, and what is no layer of its own; test_module.py and tests/nn/parallel have them.
NO_LAYERS = ("Container", "DataParallel", "Module", "NLLLoss2d")
# What torch.nn.functional shows although it is not its own: type helpers, decorators, other modules.
NOT_ITS_OWN = {
    "BroadcastingList1",
    "BroadcastingList2",
    "BroadcastingList3",
    "Callable",
    "Optional",
    "Tensor",
    "Union",
    "boolean_dispatch",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "assert_int_or_pair",
    "TypeVar",
    "deprecated",
    "overload",
    "DType",
    "ParamSpec",
    "Any",
    "Literal",
    "cast",
    "sym_int",
}
# Products of 8-bit floats and of ragged batches, on CUDA only: float8 is not here.
NOT_HERE = {"ScalingType", "SwizzleType", "grouped_mm", "scaled_grouped_mm", "scaled_mm"}
REFUSED = NOT_HERE - {"grouped_mm"}  # by a sentence, at the call


def classes(lib):
    found = {k: v for k, v in vars(lib.nn).items() if inspect.isclass(v) and issubclass(v, lib.nn.Module)}
    return {name for name in found if not name.startswith("_")}


def test_every_class_of_torch_is_here():
    assert sorted(classes(torch) - classes(L)) == []


def test_every_class_has_a_record():
    recorded = {layer.name for layer in LAYERS}
    own = {layer.name for layer in LAYERS if layer.reference is not None}
    assert sorted(classes(L) - recorded - set(NO_LAYERS)) == []
    assert sorted(recorded - own - classes(torch)) == []


def functions():
    theirs = {n for n, f in vars(torch.nn.functional).items() if callable(f) and not n.startswith("_")}
    return theirs - NOT_ITS_OWN


def test_every_function_of_torch_is_here():
    missing = {n for n in functions() if not hasattr(L.nn.functional, n)}
    assert sorted(missing) == sorted(NOT_HERE - REFUSED)
    assert not REFUSED & set(dir(L.nn.functional))


def test_every_function_has_a_record():
    recorded = {op.name.rpartition(".")[2] for op in OPS}
    ours = {n for n, f in vars(L.nn.functional).items() if callable(f) and not n.startswith("_")}
    assert sorted(n for n in (functions() | ours) - NOT_HERE if n.rstrip("_") not in recorded) == []
