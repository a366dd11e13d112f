"""Names that libraries take from PyTorch's private modules: found, true of vistorch, and refused in a sentence."""

import collections
import importlib

import pytest

from tests.compat.run import python
from tests.ops.library import L, torch
from vistorch import _lazy
from vistorch.torch_api import private_names as table

Named = collections.namedtuple("Named", "a b")


def test_every_module_is_imported_and_says_what_it_is():
    for name in table.MODULES:
        module = importlib.import_module(f"vistorch.{name}")
        assert len(module.__doc__.split()) > 1, name


def test_every_row_has_a_module_and_a_reason():
    from vistorch.torch_api import unbuilt

    for module, why, functions, classes in table.ROWS:
        assert module in unbuilt.MADE and len(why.split()) > 1 and why.endswith("."), module
        assert functions.split() or classes.split(), module
    tables = (
        table.SAME,
        table.VALUES,
        table.ANSWERS,
        table.NOTHING,
        table.AS_IT_IS,
        table.BLOCKS,
        table.ERRORS,
    )
    for rows in (*tables, table.OPTIONS):
        assert set(rows) <= set(table.MODULES)


def loaded(name):
    """A module as a program gets it: for the examples in a file, pytest runs it without the package's finder."""
    module = importlib.import_module(f"vistorch.{name}")
    if name in _lazy.COMPLETED and not isinstance(module.__loader__, _lazy._WithTable):
        importlib.reload(module)
    return module


def test_a_module_with_a_file_has_its_rows_too():
    """What is built of a module does not hide what is not."""
    from vistorch.torch_api import unbuilt

    tables = (
        table.SAME,
        table.VALUES,
        table.ANSWERS,
        table.NOTHING,
        table.AS_IT_IS,
        table.BLOCKS,
        table.ERRORS,
    )
    modules = {row[0] for row in table.ROWS}.union(*tables)
    for name in sorted(modules):
        module = loaded(name)
        lacking = [one for one in unbuilt.names(name) if not hasattr(module, one)]
        assert not lacking, f"{name} lacks {lacking}: add it to COMPLETED in vistorch/_lazy.py"
    for name in _lazy.COMPLETED:
        assert name in modules or unbuilt.names(name)
    tensor = loaded("distributed.tensor")
    assert tensor.parallel.__name__ == "vistorch.distributed.tensor.parallel" and tensor.DeviceMesh
    with pytest.raises(NotImplementedError, match="DTensor is not built"):
        tensor.DTensor()


def test_plans_of_spread_tensors_are_written_and_not_carried_out():
    tensor = loaded("distributed.tensor")
    theirs = pytest.importorskip("torch.distributed.tensor")
    for make in (
        lambda t: t.Shard(1),
        lambda t: t.Shard(dim=0),
        lambda t: t.Replicate(),
        lambda t: t.Partial(),
        lambda t: t.Partial("max"),
    ):
        ours, other = make(tensor), make(theirs)
        assert (
            ours == make(tensor) and hash(ours) == hash(make(tensor)) and isinstance(ours, tensor.Placement)
        )
        assert (repr(ours), str(ours)) == (repr(other), str(other))
        for ask, *args in (
            ("is_shard",),
            ("is_shard", 1),
            ("is_replicate",),
            ("is_partial",),
            ("is_partial", "max"),
        ):
            assert getattr(ours, ask)(*args) == getattr(other, ask)(*args), (ours, ask, args)
    with pytest.raises(NotImplementedError, match="distribute_tensor is not built"):
        tensor.distribute_tensor(L.ones(2), None, [tensor.Shard(0)])


def test_containers_are_taken_apart_by_name():
    """Libraries register containers of their own by the functions for dicts."""
    from vistorch.utils import _pytree

    for name, given in {
        "dict": {"a": 1, "b": 2},
        "list": [1, 2],
        "tuple": (1, 2),
        "namedtuple": Named(1, 2),
        "ordereddict": collections.OrderedDict(a=1, b=2),
        "defaultdict": collections.defaultdict(int, a=1, b=2),
        "deque": collections.deque([1, 2], 5),
    }.items():
        values, context = getattr(_pytree, f"_{name}_flatten")(given)
        assert values == [1, 2]
        again = getattr(_pytree, f"_{name}_unflatten")(values, context)
        assert again == given and type(again) is type(given)
        keyed, _ = getattr(_pytree, f"_{name}_flatten_with_keys")(given)
        theirs, _ = getattr(torch.utils._pytree, f"_{name}_flatten_with_keys")(given)
        assert [(str(key), value) for key, value in keyed] == [(str(key), value) for key, value in theirs]


def test_the_type_of_the_ways_to_reduce():
    op = L.distributed.ReduceOp
    assert isinstance(op.SUM, op.RedOpType) and op.RedOpType.MAX is op.MAX


@pytest.mark.parametrize("name", ["distributed.fsdp", "_subclasses", "fx.proxy", "utils.cpp_extension"])
def test_use_refuses_and_import_does_not(name):
    module = importlib.import_module(f"vistorch.{name}")
    for own, _, functions, classes in table.ROWS:
        if own != name:
            continue
        for one in functions.split() + classes.split():
            with pytest.raises(NotImplementedError, match=rf"{one} is not built: .+\."):
                getattr(module, one)(1, a=2)
        for one in classes.split():
            kind = getattr(module, one)
            assert not isinstance(L.ones(1), kind) and not hasattr(kind, "SOMETHING")
            with pytest.raises(NotImplementedError, match="is not built"):
                _ = kind.SOMETHING

            class Mine(kind):
                pass


def test_what_is_asked_is_answered():
    C, dynamo = L._C, L._dynamo
    assert C._log_api_usage_once("x") is None and C._get_tracing_state() is None
    assert not C._are_functorch_transforms_active() and not dynamo.is_compiling()
    assert C.Generator is L.Generator and C._VariableFunctions is L and C.TensorBase is L.Tensor
    assert C._functorch.is_batchedtensor(L.ones(1)) is False
    assert dynamo.disable(len) is len and dynamo.disable(recursive=False)(len) is len
    with C.DisableTorchFunctionSubclass():
        dynamo.graph_break()
    dynamo.config.cache_size_limit = 64
    with dynamo.config.patch(verbose=True):
        assert not hasattr(dynamo.config, "wobble")
    assert importlib.import_module("vistorch._subclasses.fake_tensor").is_fake(L.ones(1)) is False
    for name in ("_C", "_dynamo"):
        with pytest.raises(AttributeError):
            getattr(importlib.import_module(f"vistorch.{name}"), "wobble")  # noqa: B009


def test_they_are_found_by_torchs_names():
    program = """
from vistorch.compat import alias_torch
alias_torch()
import torch, torch._C, torch._dynamo, torch.distributed.tensor, torch.futures, torch.jit.annotations
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.utils import _pytree
from torch.hub import HASH_REGEX, urlparse
from torch.nn.modules.module import _IncompatibleKeys
from torch.serialization import MAP_LOCATION
from torch.optim.optimizer import ParamsT, _default_to_fused_or_foreach
from torch.fx.experimental.proxy_tensor import get_proxy_mode
assert get_proxy_mode() is None and HASH_REGEX.search("a-0f1.pth")
try:
    FSDP(torch.nn.Linear(1, 1))
except NotImplementedError as error:
    print(error)
"""
    out = python("-c", program)
    assert out.returncode == 0, out.stderr
    assert out.stdout.count("\n") == 1 and "FullyShardedDataParallel is not built" in out.stdout


# ---- the real ones ------------------------------------------------------------------------------------------------
def trees(lib):
    values = lib.max(lib.ones(2, 2), 0)
    ordered = collections.OrderedDict(x=4, y=())
    yield {"a": [1, (2, None)], "b": Named(3, ordered), "c": values}
    yield collections.defaultdict(list, k=[1]), collections.deque([1, 2], maxlen=3)
    yield 5
    yield []


def taken_apart(lib):
    p = importlib.import_module(f"{lib.__name__}.utils._pytree")
    seen = []
    for tree in trees(lib):
        leaves, form = p.tree_flatten(tree)
        seen += [len(leaves), repr(form), form.num_leaves, form.num_nodes, form.num_children, form.is_leaf()]
        back = p.tree_unflatten(leaves, form)
        assert p.tree_structure(back) == form and hash(p.tree_structure(back)) == hash(form)
        seen += [[p.keystr(path) for path, _ in p.tree_leaves_with_path(tree)], type(back).__name__]
        seen.append(repr(p.tree_map_only(int, lambda x: x + 1, tree)))
        seen.append(p._broadcast_to_and_flatten(0, form))
    form = p.tree_structure([1, [2, 3]])
    seen += [p._broadcast_to_and_flatten([0, 1], form), p._broadcast_to_and_flatten((0, 1), form)]
    seen.append(p.tree_map(lambda a, b: (a, b), [1, (2,)], [[3], (4,)]))
    seen.append(p.tree_map(len, [[1], [1, 2]], is_leaf=lambda x: isinstance(x, list) and 1 in x))
    seen += [p.tree_all(bool, [1, [0]]), p.tree_any(bool, [1, [0]]), p.tree_all_only(str, bool, [0, "a"])]
    seen += [p.arg_tree_leaves(1, [2], k=(3,)), p.tree_is_leaf(None), p.tree_is_leaf([])]
    for wrong in ((lambda: p.tree_map(max, [1, 2], [1])), (lambda: p.tree_map(max, [1], (1,)))):
        with pytest.raises(ValueError) as error:
            wrong()
        seen.append(str(error.value))
    for leaves in ([1], [1, 2, 3, 4]):
        with pytest.raises(ValueError) as error:
            p.tree_unflatten(leaves, form)
        seen.append(str(error.value)[:60])

    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

    p.register_pytree_node(Pair, lambda x: ([x.a, x.b], "c"), lambda values, context: Pair(*values))
    pair = p.tree_map(lambda x: x * 2, [Pair(1, [2])])[0]
    seen += [pair.a, pair.b, repr(p.tree_structure(pair)).replace("taken_apart.<locals>.", "")]
    with pytest.raises(ValueError):
        p.register_pytree_node(Pair, None, None)
    return repr(seen).replace("vistorch", "torch")


def test_trees_are_taken_apart_as_pytorch_does():
    assert taken_apart(L) == taken_apart(torch)


def flops(lib, program):
    counter = importlib.import_module(f"{lib.__name__}.utils.flop_counter").FlopCounterMode(display=False)
    lib.manual_seed(0)
    with counter:
        program(lib)
    counts = counter.get_flop_counts()
    return counter.get_total_flops(), {k: {str(op): n for op, n in v.items()} for k, v in counts.items()}


def network(lib):
    nn = lib.nn
    model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, groups=1), nn.ReLU(), nn.Flatten(), nn.Linear(128, 5))
    model(lib.randn(2, 3, 4, 4)).sum().backward()


def products(lib):
    x = lib.randn(2, 3, 4).requires_grad_()
    (lib.einsum("bij,bjk->bik", x, lib.randn(2, 4, 5)) @ lib.randn(5, 2)).sum().backward()
    lib.baddbmm(lib.ones(1), x, lib.randn(2, 4, 4)).sum()
    deconv = lib.nn.ConvTranspose2d(3, 4, 3, stride=2)
    deconv(lib.randn(1, 3, 5, 5).requires_grad_()).sum().backward()


@pytest.mark.parametrize("program", [network, products])
def test_operations_are_counted_as_pytorch_counts_them(program):
    assert flops(L, program) == flops(torch, program)


def test_attention_is_counted_and_its_backward():
    q = L.randn(2, 2, 5, 4).requires_grad_()
    total, _ = flops(L, lambda lib: lib.nn.functional.scaled_dot_product_attention(q, q, q).sum().backward())
    assert total == 2 * 2 * 2 * (5 * 5 * 4 * 2) + 2 * 2 * 2 * (5 * 5 * 4 * 5)


def modes(lib):
    overrides = importlib.import_module(f"{lib.__name__}.overrides")
    seen = []

    class Names(overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    table = {lib.add: 7}

    class Other(overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            if func in table:
                return table[func]
            return 8 if func is lib.mul else func(*args, **(kwargs or {}))

    with Names():
        x = lib.ones(2, 3)
        y = 2 * (x + 1)
        lib.exp(y).sum()
        lib.nn.functional.relu(x) @ x.t()
        lib.linalg.norm(x)
        with Other():
            seen += [lib.add(x, 1), lib.mul(x, 1)]
    seen.append(lib.add(lib.ones(1), 1).item())
    return seen


def test_modes_are_asked_before_functions():
    before = L.add, L.Tensor.__add__, L.nn.functional.relu
    assert modes(L) == modes(torch)
    assert before == (L.add, L.Tensor.__add__, L.nn.functional.relu)
    assert type(L.add) is type(L.sub)


def futures(lib):
    module = importlib.import_module(f"{lib.__name__}.futures")
    seen = []
    first, second = module.Future(), module.Future()
    doubled = first.then(lambda f: 2 * f.value())
    failing = first.then(lambda f: 1 // 0)
    both = module.collect_all([first, second])
    first.add_done_callback(lambda f: seen.append(f.value()))
    first.set_result(3)
    seen += [first.done(), doubled.wait(), both.done()]
    second.set_result(4)
    seen += [[f.value() for f in both.wait()], module.wait_all([first, second])]
    for wrong in (lambda: first.set_result(1), failing.wait, module.Future().value):
        with pytest.raises(Exception) as error:
            wrong()
        seen.append(isinstance(error.value, (RuntimeError, ZeroDivisionError)))
    return seen


def test_futures():
    assert futures(L) == futures(torch)


def unsigned(lib):
    seen = []
    x = lib.tensor([1, 2, 200], dtype=lib.uint16)
    seen += [
        x,
        x.type(),
        x.to(lib.int32),
        x == x,
        x.dtype.is_signed,
        x.element_size(),
        lib.iinfo(lib.uint32).max,
    ]
    for a in (lib.uint16, lib.uint64):
        for b in (lib.uint16, lib.uint8, lib.bool, lib.int64, lib.float16, lib.float32, lib.complex64):
            try:
                seen.append(lib.promote_types(a, b))
            except RuntimeError as error:
                seen.append(str(error))
    eight = lib.tensor([1.0, 2.5]).to(lib.float8_e4m3fn)
    seen += [eight.float(), eight.dtype, eight.element_size(), eight.dtype.is_floating_point]
    for kind in (lib.float8_e4m3fn, lib.float8_e5m2, lib.float8_e4m3fnuz, lib.float8_e5m2fnuz):
        info = lib.finfo(kind)
        seen += [info.max, info.min, info.eps, info.tiny, info.bits, info.resolution]
    return repr(seen).replace("vistorch", "torch")


def test_types_to_store():
    assert unsigned(L) == unsigned(torch)


def lists(lib):
    a, b = [lib.ones(2), lib.full((3,), 4.0)], [lib.full((2,), 2.0), lib.full((3,), 0.5)]
    seen = [
        lib._foreach_add(a, b),
        lib._foreach_mul(a, 3.0),
        lib._foreach_div(a, [2.0, 4.0]),
        lib._foreach_sqrt(a),
    ]
    seen += [lib._foreach_norm(a), lib._foreach_addcdiv(a, a, b, 0.5), lib._foreach_lerp(a, b, 0.25)]
    seen += [lib._foreach_maximum(a, b), lib._foreach_clamp_min(a, 2.0), lib._foreach_add(a, b, alpha=2)]
    lib._foreach_add_(a, 1.0)
    lib._foreach_mul_(a, b)
    lib._foreach_addcmul_(a, b, b, value=2.0)
    lib._foreach_zero_(b)
    return repr([*seen, a, b])


def test_lists_of_tensors():
    assert lists(L) == lists(torch)


def test_tensors_are_grouped_as_there():
    said = []
    for lib in (L, torch):
        group = importlib.import_module(
            f"{lib.__name__}.utils._foreach_utils"
        )._group_tensors_by_device_and_dtype
        rows = [
            [lib.ones(1), lib.ones(1, dtype=lib.float64), lib.ones(2)],
            [None, lib.zeros(1), lib.zeros(2)],
        ]
        found = group(rows, with_indices=True)
        said.append(
            {
                str(kind).partition(".")[2]: (
                    [[one if one is None else one.tolist() for one in row] for row in lists],
                    at,
                )
                for (_, kind), (lists, at) in found.items()
            }
        )
    assert said[0] == said[1]


def test_private_operators_of_aten_are_called_or_say_that_they_are_not_here():
    for lib in (L, torch):
        aten, x = lib.ops.aten, lib.arange(6.0).reshape(2, 3)
        assert aten._to_copy.default(x, dtype=lib.int64).dtype is lib.int64
        assert aten.slice.Tensor(x, 1, 1, 3).tolist() == [[1, 2], [4, 5]]
        assert aten.alias.default(x).data_ptr() == x.data_ptr()
    with pytest.raises(NotImplementedError, match=r"vistorch.ops.aten._sparse_mm_reduce_impl is not built: "):
        L.ops.aten._sparse_mm_reduce_impl.default(x)


def test_a_network_up_to_some_of_its_layers():
    from vistorch.vision.models import resnet18
    from vistorch.vision.models._utils import IntermediateLayerGetter

    net = resnet18()
    getter = IntermediateLayerGetter(net, {"layer1": "low", "layer3": "high"})
    assert list(getter) == ["conv1", "bn1", "relu", "maxpool", "layer1", "layer2", "layer3"]
    out = getter(L.randn(1, 3, 32, 32))
    assert [(name, tuple(one.shape)) for name, one in out.items()] == [
        ("low", (1, 64, 8, 8)),
        ("high", (1, 256, 2, 2)),
    ]
    with pytest.raises(ValueError, match="return_layers are not present in model"):
        IntermediateLayerGetter(net, {"layer9": "none"})
