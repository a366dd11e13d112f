"""The rooms that `import vistorch` does not open: each is imported when its name is first asked for.

Invariant: `vistorch.nn` works after `import vistorch` alone, as `torch.nn` does, and costs nothing before.
"""

import importlib
import sys
from typing import Any

ROOMS = (
    "__future__",
    "accelerator",
    "amp",
    "ao",
    "backends",
    "compat",
    "compiler",
    "cpu",
    "distributed",
    "export",
    "func",
    "functional",
    "fx",
    "hub",
    "jit",
    "library",
    "masked",
    "multiprocessing",
    "nested",
    "nn",
    "onnx",
    "optim",
    "overrides",
    "profiler",
    "quantization",
    "serialization",
    "settings",
    "sparse",
    "special",
    "storage",
    "testing",
    "types",
    "version",
    "vision",
    "vt",
)

_settings = """
    are_deterministic_algorithms_enabled compiled_with_cxx11_abi get_deterministic_debug_mode get_device_module
    get_float32_matmul_precision get_num_interop_threads get_num_threads
    is_deterministic_algorithms_warn_only_enabled is_storage is_warn_always_enabled set_deterministic_debug_mode
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
# What vistorch itself offers out of a room, by name.
NAMES = {
    "GradScaler": "amp",
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
    **dict.fromkeys(_settings.split(), "settings"),
    **dict.fromkeys(_autocast.split(), "amp.state"),
    **{f"{kind}Storage": "storage" for kind in _kinds},
}


def __getattr__(name: str) -> Any:
    if name in ROOMS:
        return importlib.import_module(f"vistorch.{name}")
    if name in NAMES:
        found = getattr(importlib.import_module(f"vistorch.{NAMES[name]}"), name)
        setattr(sys.modules["vistorch"], name, found)
        return found
    raise AttributeError(f"module 'vistorch' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*vars(sys.modules["vistorch"]), *ROOMS, *NAMES})
