"""The rooms that `import vistorch` does not open: each is imported when its name is first asked for.

Invariant: `vistorch.nn` works after `import vistorch` alone, as `torch.nn` does, and costs nothing before.
"""

import importlib
import sys
from typing import Any

ROOMS = (
    "__config__",
    "__future__",
    "accelerator",
    "amp",
    "ao",
    "backends",
    "compat",
    "compiler",
    "cpu",
    "distributed",
    "distributions",
    "export",
    "func",
    "functional",
    "fx",
    "hub",
    "jit",
    "library",
    "masked",
    "mps",
    "multiprocessing",
    "nested",
    "nn",
    "onnx",
    "optim",
    "overrides",
    "profiler",
    "quantization",
    "return_types",
    "serialization",
    "settings",
    "signal",
    "sparse",
    "special",
    "storage",
    "testing",
    "types",
    "version",
    "vision",
    "vt",
    "xpu",
)

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
# Functions that exist by name only; see `unbuilt.py`.
_unbuilt = """
    choose_qparams_optimized cond dsmm empty_quantized fake_quantize_per_channel_affine
    fake_quantize_per_tensor_affine fused_moving_avg_obs_fake_quant hash_tensor hsmm hspmm import_ir_module
    import_ir_module_from_buffer int_repr lobpcg parse_ir parse_schema q_per_channel_axis q_per_channel_scales
    q_per_channel_zero_points q_scale q_zero_point quantize_per_channel quantize_per_tensor
    quantize_per_tensor_dynamic quantized_batch_norm quantized_gru quantized_gru_cell quantized_lstm
    quantized_lstm_cell quantized_max_pool1d quantized_max_pool2d quantized_max_pool3d quantized_rnn_relu_cell
    quantized_rnn_tanh_cell resize_as_sparse_ saddmm segment_reduce smm sparse_bsc_tensor sparse_bsr_tensor
    sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor spmm sspaddmm while_loop
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
    "AcceleratorError": "engine.errors",
    "OutOfMemoryError": "engine.errors",
    "Stream": "cuda",
    "from_file": "files",
    "pca_lowrank": "lowrank",
    "svd_lowrank": "lowrank",
    "thread_safe_generator": "random",
    "vmap": "func",
    **dict.fromkeys(_settings.split(), "settings"),
    **dict.fromkeys(_unbuilt.split(), "unbuilt"),
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
