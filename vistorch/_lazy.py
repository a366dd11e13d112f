"""What `import vistorch` does not load: where each module and name is, or that it is not built.

`vistorch.nn` works after `import vistorch` alone, as `torch.nn` does, and is imported when it is first asked for. Some
modules have their file in another folder than their name says, and some have no file: they are made from the table of
what is not built (`torch_api/unbuilt.py`). Both are found by two finders, one before and one behind Python's own; a
third knows what pickles of older versions call a module.

Invariant: one file is one module, by whichever name it is imported; its `__name__` is the public one.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any

_torch_api = """
    __config__ __future__ accelerator backends compat compiler cpu functional hub futures jit library ops overrides
    profiler return_types settings signal testing torch_version types version
""".split()
MODULES = (
    """
    amp distributed distributions func masked multiprocessing nn optim serialization special storage utils vision vt
""".split()
    + _torch_api
)
# Public name -> the folder that has its file, for those that are not in `vistorch/` itself.
ELSEWHERE = {
    **dict.fromkeys(
        [*_torch_api, *"captured files graphed lowrank private_values rare_values".split()], "torch_api"
    ),
    "cli": "vt",
    "tutorials": "vt.cli",
}
# Modules with a file that are asked for more than it has, of `torch_api/rare_names.py`: looked up when it is asked for.
ASKED = """
    accelerator autograd autograd.function autograd.grad_mode autograd.graph autograd.profiler backends backends.cuda
    backends.cudnn backends.mkldnn backends.mps compiler cuda cuda.amp cuda.memory cuda.streams distributed func jit
    masked nn nn.attention nn.functional nn.modules nn.parameter optim profiler serialization signal.windows testing
    utils utils.benchmark utils.checkpoint utils.data utils.data.dataloader utils.data.distributed utils.hooks
    utils.tensorboard
    nn.modules.activation nn.modules.batchnorm nn.modules.normalization nn.modules.rnn nn.modules.transformer
    nn.parallel.parallel_apply nn.parallel.replicate
    optim.adadelta optim.adagrad optim.adam optim.adamax optim.adamw optim.asgd optim.nadam optim.radam optim.rmsprop
    optim.rprop optim.sgd optim.sparse_adam
""".split()
# Of these, the ones that PyTorch has as packages.
_PARENTS = frozenset("accelerator backends.cudnn compiler masked profiler signal.windows".split())
# Modules with a file that have rows of the table besides: what of them is not built says so when it is used.
COMPLETED = """
    distributed.algorithms.ddp_comm_hooks distributed.optim distributed.pipelining distributed.tensor
    distributed.tensor.parallel library
""".split()
# What pickles of older versions call modules: former name, or former:present, by present folder.
_moved = {
    "base": "errors events modes quiet:numpy_warnings dtypes limits:finfo type_names device probe:cuda_probe size dims "
    "layout return_types",
    "memory": "heap:allocator shared:shared_memory mapped:memory_map aliases:memory_users places:placement storage",
    "core": "graph tensor record rules views call:op_factory outs:out_argument promote:type_promotion pointwise "
    "straight:pointwise_nary inplace twins:inplace_docs face:registry hooks bygone:legacy_arguments "
    "placed:sparse_gradient",
    "backward": "vjps:node_vjp accumulate anomaly",
    "methods": "metadata sorts:tensor_kind interop:conversion copying:copy_pickle dlpack format typed_storage",
    "random": "generators",
}
_joined = """
    calls:module_call conv_base:conv conv_lazy:conv conv_transpose:conv everywhere:global_hooks loss_base:loss
    loss_margins:loss loss_values:loss padding_own:padding parameters:container pooling_max:pooling
    pooling_means:pooling smooth:activation soft:activation state:state_dict straight:activation
"""
FORMER = {
    **{
        f"engine.{row.partition(':')[0]}": f"engine.{folder}.{row.rpartition(':')[2]}"
        for folder, rows in _moved.items()
        for row in rows.split()
    },
    **{f"nn.modules.{a}": f"nn.modules.{b}" for a, _, b in (row.partition(":") for row in _joined.split())},
    "nn.fills": "nn.init",
}
_MORE = frozenset([*COMPLETED, *ASKED])
# A second name -> the public name; what lies in another folder of the table comes before that folder.
_PUBLIC = {f"{folder}.{name}": name for name, folder in reversed(ELSEWHERE.items())}
_PUBLIC["cli.tutorials"] = "tutorials"  # by a relative import in `cli`
_PUBLIC["nn.modules.utils"] = "nn.modules.tuples"  # PyTorch's name
_PUBLIC["compat.alias"] = "compat.import_torch"  # as it was called before

_settings = """
    are_deterministic_algorithms_enabled compiled_with_cxx11_abi get_deterministic_debug_mode get_device_module
    get_float32_matmul_precision get_num_interop_threads get_num_threads
    is_deterministic_algorithms_warn_only_enabled is_storage is_vulkan_available is_warn_always_enabled
    set_anomaly_enabled set_deterministic_debug_mode
    set_float32_matmul_precision set_flush_denormal set_num_interop_threads set_num_threads set_warn_always
    use_deterministic_algorithms
"""
_autocast = """
    autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache get_autocast_cpu_dtype
    get_autocast_dtype get_autocast_gpu_dtype is_autocast_cache_enabled is_autocast_cpu_enabled
    is_autocast_enabled set_autocast_cache_enabled set_autocast_cpu_dtype set_autocast_cpu_enabled
    set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype
"""
_kinds = "Half BFloat16 Float Double Char Short Int Long Byte ComplexFloat ComplexDouble Bool".split()
# A name of `vistorch` -> the module that has it.
NAMES = {
    "Future": "futures",
    "GradScaler": "amp",
    "ScriptModule": "jit",
    "autocast": "amp",
    "compile": "compiler",
    "fork": "jit",
    "load": "serialization",
    "load_ipython_extension": "magics",
    "save": "serialization",
    "unload_ipython_extension": "magics",
    "wait": "jit",
    "TypedStorage": "storage",
    "UntypedStorage": "storage",
    "AcceleratorError": "engine.base.errors",
    "OutOfMemoryError": "engine.base.errors",
    "Event": "cuda",
    "Stream": "cuda",
    **dict.fromkeys("sym_float sym_int sym_ite sym_max sym_min sym_not sym_sum".split(), "private_values"),
    "from_file": "files",
    "pca_lowrank": "lowrank",
    "svd_lowrank": "lowrank",
    "thread_safe_generator": "random",
    "vmap": "func",
    **dict.fromkeys(_settings.split(), "settings"),
    **dict.fromkeys(_autocast.split(), "amp.state"),
    **{f"{kind}Storage": "storage" for kind in _kinds},
}
# What PyTorch itself took away long ago -> what the document of an old program says instead.
GONE = {"legacy": "PyTorch took its Lua layers away; use the modules of `nn` and the optimizers of `optim`."}
# Types that are names alone.
_types = """
    bits1x8 bits2x4 bits4x2 bits8 bits16 float4_e2m1fn_x2 int1 int2 int3 int4 int5 int6 int7 qint8 qint32 quint8
    quint2x4 quint4x2 uint1 uint2 uint3 uint4 uint5 uint6 uint7
"""
NAMES.update(dict.fromkeys(_types.split(), "engine.base.dtypes"))
_ROOT = os.path.dirname(os.path.abspath(__file__))


def __getattr__(name: str) -> Any:
    """What `vistorch` says of a name that it has not yet."""
    if name in MODULES:
        return importlib.import_module(f"vistorch.{name}")
    if name in NAMES:
        found = getattr(importlib.import_module(f"vistorch.{NAMES[name]}"), name)
    elif name.startswith("__"):  # asked for by copy, inspect and such: no reason to load the table
        raise _no_attribute(name)
    elif name.startswith(
        ("_foreach_", "_check", "_assert", "_shape_as", "_softmax_back", "_log_softmax_back")
    ):
        found = importlib.import_module("vistorch.private_values").NAMES.get(name)
        if found is None:
            raise _no_attribute(name)
    elif name in _table().MADE:
        return importlib.import_module(f"vistorch.{name}")
    else:
        if (found := _table().find("", name)) is _table().ABSENT:
            raise _no_attribute(name)
        return found  # not kept in the package: `dir` shows what it showed
    setattr(sys.modules["vistorch"], name, found)
    return found


def _no_attribute(name: str) -> AttributeError:
    known = sys.modules.get(
        "vistorch.engine.library_name"
    )  # not yet there while the engine is being imported
    package = "vistorch" if known is None else known.library
    why = f": {GONE[name]}" if name in GONE else ""
    return AttributeError(f"module '{package}' has no attribute {name!r}{why}")


def __dir__() -> list[str]:
    unbuilt_modules = [name for name in _table().MODULES if "." not in name]
    return sorted({*vars(sys.modules["vistorch"]), *MODULES, *NAMES, *unbuilt_modules, *_table().listed()})


def unbuilt(module: str) -> dict[str, Any]:
    """Return the names of a module that are not built: each says so when it is used.

    Args:
        module: its name without `vistorch.`; empty for `vistorch` itself.
    """
    return _table().names(module)


def _table() -> Any:
    return importlib.import_module("vistorch.torch_api.unbuilt")


class Files:
    """Finds the modules whose files are in another folder than their names say, by both names."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """By the public name, the file; by that of the folder, the module of the public name."""
        root, _, name = fullname.partition(".")
        if root != "vistorch":
            return None
        if name in ELSEWHERE:
            spec = PathFinder.find_spec(fullname, [os.path.join(_ROOT, *ELSEWHERE[name].split("."))])
            return _completed(spec) if name in _MORE else spec
        if name in _MORE:
            return _completed(PathFinder.find_spec(fullname, path))
        return None if (public := public_name(name)) == name else _second_name(fullname, public)


def _second_name(fullname: str, name: str) -> ModuleSpec | None:
    return importlib.import_module("vistorch.compat.import_torch").second_name(fullname, f"vistorch.{name}")


class _WithTable(SourceFileLoader):
    """Runs a module's file, then adds what the table has of it and the file has not, or says where to ask for it."""

    def exec_module(self, module: ModuleType) -> None:
        """Run and complete it."""
        super().exec_module(module)
        name = self.name.partition(".")[2]
        if name in ASKED:
            _ask(module, name)
            return
        for one, value in unbuilt(name).items():
            vars(module).setdefault(one, value)


def _ask(module: ModuleType, own: str) -> None:
    """Let a module look into the table for what it has not.

    Args:
        module: the module.
        own: its name without `vistorch.`.
    """
    before = vars(module).get("__getattr__")

    def look(name: str) -> Any:
        lacking = AttributeError(f"module '{module.__name__}' has no attribute {name!r}")
        if before is not None:
            try:
                return before(name)
            except AttributeError as error:
                lacking = error
        if name.startswith("__"):  # asked for by copy, inspect and such
            raise lacking
        if f"{own}.{name}" in _table().MADE:
            return importlib.import_module(f"vistorch.{own}.{name}")
        if (found := _table().find(own, name)) is _table().ABSENT:
            raise lacking
        return found  # not kept in the module: `dir` shows what it showed

    vars(module)["__getattr__"] = look
    if own in _PARENTS:  # of modules that have no file
        vars(module).setdefault("__path__", [])


def _completed(spec: ModuleSpec | None) -> ModuleSpec | None:
    if spec is not None and isinstance(spec.loader, SourceFileLoader):
        spec.loader = _WithTable(spec.loader.name, spec.loader.path)
    return spec


def public_name(name: str) -> str:
    """Return the public name of a module.

    Args:
        name: one of its names, without `vistorch.`.

    Example:
        >>> public_name("torch_api.backends.cudnn"), public_name("nn.functional")
        ('backends.cudnn', 'nn.functional')
    """
    for second, public in _PUBLIC.items():
        if name == second or name.startswith(f"{second}."):
            return public + name[len(second) :]
    return name


class _Called(ModuleType):
    """A module that is also a function of its package: in PyTorch one hides the other."""

    function: Any

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function does."""
        return self.function(*args, **kwargs)


class Unbuilt:
    """Makes the modules that are nothing but rows of the table; asked when no file has been found."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Where such a module comes from."""
        root, _, name = fullname.partition(".")
        if root == "vistorch" and name in GONE:
            raise ModuleNotFoundError(f"No module named {fullname!r}: {GONE[name]}", name=fullname)
        if root != "vistorch" or name not in _table().MADE:
            return None
        loader: Any = self
        return ModuleSpec(fullname, loader, origin="not built", is_package=bool(_inside(name, _table().MADE)))

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave that to Python."""

    def exec_module(self, module: ModuleType) -> None:
        """Fill in what the table says."""
        name = module.__name__.partition(".")[2]
        table = _table()
        module.__doc__ = table.MADE[name]
        vars(module).update(unbuilt(table.SAME.get(name, name)))
        if inside := _inside(name, table.MODULES):
            module.__all__ = inside  # type: ignore[attr-defined]
        _ask(module, name)
        package, _, last = name.rpartition(".")
        hidden = getattr(sys.modules.get(f"vistorch.{package}"), "__dict__", {}).get(last)
        if callable(hidden) and not isinstance(hidden, (ModuleType, type)):
            module.__class__ = _Called
            vars(module)["function"] = hidden
        for child in _inside(name, table.OPENED):
            importlib.import_module(f"vistorch.{name}.{child}")


def _inside(name: str, made: dict[str, str]) -> list[str]:
    """Return the modules directly inside of one that the table makes."""
    inner = [other[len(name) + 1 :] for other in made if other.startswith(f"{name}.")]
    return [other for other in inner if "." not in other]


class Former:
    """Finds modules by the names that pickles of older versions have; asked when no file has been found."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The module of the present name."""
        root, _, name = fullname.partition(".")
        return _second_name(fullname, FORMER[name]) if root == "vistorch" and name in FORMER else None


class Listing:
    """Lists for pkgutil the modules whose files are elsewhere, or that have none; it finds none itself."""

    def __init__(self, path: str) -> None:
        if path != __file__:
            raise ImportError(path)

    def find_spec(self, fullname: str, target: Any = None) -> None:
        """Leave that to the finders of `sys.meta_path`."""

    def iter_modules(self, prefix: str = "") -> Iterator[tuple[str, bool]]:
        """Yield each module's name, and whether it is a package."""
        for name in sorted({*ELSEWHERE, *(name for name in _table().MODULES if "." not in name)}):
            spec = importlib.util.find_spec(f"vistorch.{name}")
            yield prefix + name, spec is not None and spec.submodule_search_locations is not None


def _begin(package: ModuleType) -> None:
    """Set the finders to work."""
    everyone: tuple[Any, Any] = (sys.meta_path, sys.path_hooks)
    for finders in everyone:  # those of an import that failed, or was undone
        finders[:] = [one for one in finders if getattr(one, "__module__", None) != __name__]
    sys.meta_path[:] = [Files(), *sys.meta_path, Unbuilt(), Former()]
    sys.path_hooks.append(Listing)
    package.__path__.append(__file__)  # type: ignore[attr-defined]
    for name in ASKED:  # what the package has imported by now
        if (module := sys.modules.get(f"vistorch.{name}")) is not None:
            _ask(module, name)


_begin(sys.modules["vistorch"])
