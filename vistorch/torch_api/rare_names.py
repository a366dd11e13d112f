"""PyTorch's public names that programs hardly use: what each is here, or what to use in its place.

PyTorch spells them without an underscore, and documents few: parts of TorchScript and of the build, kernels of one
library, types without kernels. Here they can be imported, passed on, subclassed and asked for by `isinstance`.

Invariant: nothing here is loaded before a program asks for a name that its module has not; each name stands once.
"""

from __future__ import annotations

from typing import Any

_SCRIPT = "vistorch has no TorchScript; write it in plain Python."
_BUILD = "it is a part of PyTorch's build; no program needs it here."
_DISPATCH = "vistorch has no dispatcher; write a `library.custom_op` with its kernels and its backward."
_KERNEL = "call the public function; it chooses the kernel."
_NORM = "it is a part of a kernel of CUDA; use `nn.SyncBatchNorm` or `nn.functional.batch_norm`."
_DENSE = "vistorch's tensors are dense."
_PLAIN = "vistorch has no quantized tensors; train and run in float32, float16 or bfloat16."
_SYMBOLS = "every size is a number here."
_STORAGE = "use `tensor.untyped_storage()`."
_PIPES = "PyTorch gave its data pipes up; write a `utils.data.IterableDataset`."
_PROFILE = "vistorch.profiler measures nothing; use `cProfile`."
_ATTENTION = "use `nn.functional.scaled_dot_product_attention`; it chooses its way itself."
_GRAPH = "vistorch captures graphs of CUDA alone; use `cuda.CUDAGraph`."
_POOL = "the memory of CUDA devices is cupy's; set it by `cupy.cuda.set_allocator`."
_STREAM = "use `cuda.Stream`, or run the other library's work before this one's."
_EIGHT = "convert to float32 or bfloat16 and multiply by `matmul`."
_CUDA = "use `vistorch.cuda` for what it has, and cupy for the rest."
_DEVICE = "vistorch has CPU and CUDA devices."
_COMPILER = "vistorch has no compiler; run the function as it is."

# The modules, "torch" for the package itself; why (what to do instead); functions; classes.
ROWS: tuple[tuple[str, str, str, str], ...] = (
    (
        "torch",
        _SCRIPT,
        "merge_type_from_type_comment parse_type_comment unify_type_list",
        """AliasDb AnyType Argument ArgumentSpec AwaitType Block BoolType BufferDict CallStack Capsule ClassType Code
        CompilationUnit CompleteArgumentSpec ComplexType ConcreteModuleType ConcreteModuleTypeBuilder
        DeepCopyMemoTable DeserializationStorageContext DeviceObjType DictType EnumType ErrorReport ExecutionPlan
        FileCheck FloatType FunctionSchema FutureType Gradient Graph GraphExecutorState IODescriptor InferredType
        IntType InterfaceType ListType LiteScriptModule ModuleDict Node NoneType NumberType OperatorInfo OptionalType
        ParameterDict PyObjectType RRefType ScriptClass ScriptClassFunction ScriptDict ScriptDictIterator
        ScriptDictKeyIterator ScriptFunction ScriptList ScriptListIterator ScriptMethod ScriptModuleSerializer
        ScriptObject ScriptObjectProperty SerializationStorageContext StaticModule StreamObjType StringType SymBoolType
        SymIntType TensorType TracingState TupleType Type UnionType Use Value""",
    ),
    (
        "torch",
        _BUILD,
        "prepare_multiprocessing_environment profiler_allow_cudagraph_cupti_lazy_reinit_cuda12",
        "AggregationType LockingLogger LoggerBase NoopLogger",
    ),
    ("torch", _DISPATCH, "", "DispatchKey DispatchKeySet ExcludeDispatchKeyGuard Tag"),
    (
        "torch utils",
        "measure with `utils.benchmark.Timer`.",
        "",
        "ThroughputBenchmark",
    ),
    ("torch", "measure with `utils.benchmark.Timer`.", "", "BenchmarkConfig BenchmarkExecutionStats"),
    (
        "torch",
        _KERNEL,
        """cudnn_affine_grid_generator cudnn_batch_norm cudnn_convolution cudnn_convolution_add_relu
        cudnn_convolution_relu cudnn_convolution_transpose cudnn_grid_sampler miopen_batch_norm miopen_convolution
        miopen_convolution_add_relu miopen_convolution_relu miopen_convolution_transpose miopen_ctc_loss
        miopen_depthwise_convolution miopen_rnn mkldnn_adaptive_avg_pool2d mkldnn_linear_backward_weights
        mkldnn_max_pool2d mkldnn_max_pool3d mkldnn_rnn_layer native_norm""",
        "",
    ),
    (
        "torch",
        _NORM,
        """batch_norm_backward_elemt batch_norm_backward_reduce batch_norm_elemt batch_norm_gather_stats
        batch_norm_gather_stats_with_counts batch_norm_stats""",
        "",
    ),
    (
        "torch",
        _PLAIN,
        """fbgemm_linear_fp16_weight fbgemm_linear_fp16_weight_fp32_activation fbgemm_linear_int8_weight
        fbgemm_linear_int8_weight_fp32_activation fbgemm_linear_quantize_weight fbgemm_pack_gemm_matrix_fp16
        fbgemm_pack_quantized_matrix""",
        "QInt32Storage QInt8Storage QUInt2x4Storage QUInt4x2Storage QUInt8Storage",
    ),
    (
        "torch",
        _DENSE,
        "ccol_indices_copy col_indices_copy crow_indices_copy indices_copy row_indices_copy values_copy",
        "",
    ),
    ("torch", _SYMBOLS, "sym_fresh_size", ""),
    (
        "torch",
        "write into a copy: `copy = base.clone(); copy[start:end] = part`.",
        "slice_inverse",
        "",
    ),
    ("serialization", "ask the storage for its `dtype`.", "storage_to_tensor_type", ""),
    ("testing", "compare texts by `re` or by your test runner's own means.", "", "FileCheck"),
    ("accelerator", _GRAPH, "", "Graph"),
    (
        "autograd autograd.function",
        "write an `autograd.Function` whose forward takes tensors.",
        "",
        "NestedIOFunction",
    ),
    (
        "autograd.graph",
        "vistorch keeps what the backward pass needs; use `utils.checkpoint` to keep less.",
        "region_activation_memory_budget",
        "",
    ),
    (
        "autograd.profiler",
        _PROFILE,
        "load_nvprof parse_nvprof_trace",
        "EnforceUnique KinetoStepTracker MemRecordsAcc",
    ),
    ("profiler", _PROFILE, "", "ExecutionTraceObserver DeviceType"),
    ("backends.cuda", "cupy keeps its own plans.", "", "cuBLASModule cuFFTPlanCache cuFFTPlanCacheManager"),
    ("backends.cuda", "cupy keeps its own plans.", "", "cuFFTPlanCacheAttrContextProp"),
    ("backends.cuda", "cupy keeps its own workspaces.", "blas_workspace_size cublas_workspace_size", ""),
    ("backends.cuda", "cupy keeps its own workspaces.", "cublaslt_workspace_size", ""),
    ("backends.cuda", _DEVICE, "preferred_rocm_fa_library", ""),
    ("backends.mps", _DEVICE, "get_core_count get_name", ""),
    (
        "compiler",
        "vistorch has no compiler and keeps no compiled code.",
        """keep_tensor_guards_unsafe load_compiled_function skip_guard_on_all_nn_modules_unsafe
        skip_guard_on_globals_unsafe skip_guard_on_inbuilt_nn_modules_unsafe""",
        "",
    ),
    (
        "cuda",
        _STORAGE,
        "",
        """BFloat16Storage BoolStorage ByteStorage CharStorage ComplexDoubleStorage ComplexFloatStorage DoubleStorage
        FloatStorage HalfStorage IntStorage LongStorage ShortStorage""",
    ),
    ("cuda", _CUDA, "cudart current_blas_handle current_solver_handle", "cudaStatus"),
    ("cuda cuda.memory", _POOL, "change_current_allocator", "CUDAPluggableAllocator"),
    ("cuda cuda.streams", _STREAM, "", "ExternalStream"),
    ("cuda", _STREAM, "get_stream_from_external", "GreenContext"),
    (
        "nn nn.modules",
        "use `nn.Linear` and `nn.CrossEntropyLoss`, one after the other.",
        "",
        "LinearCrossEntropyOptions",
    ),
    ("nn.attention", _ATTENTION, "activate_flash_attention_impl register_flash_attention_impl", ""),
    ("nn.functional", _EIGHT, "scaled_grouped_mm scaled_mm", "ScalingType SwizzleType"),
    (
        "optim",
        "make a second optimizer over the other parameters and load the state into it.",
        "swap_in_optimizer_params_and_state",
        "",
    ),
    (
        "utils",
        _DEVICE,
        "generate_methods_for_privateuse1_backend rename_privateuse1_backend",
        "",
    ),
    ("utils", "vistorch is Python; use `traceback`.", "get_cpp_backtrace", ""),
    ("utils.checkpoint", "use `utils.checkpoint.checkpoint`.", "", "GraphExecGroup"),
    (
        "utils.data",
        _PIPES,
        "argument_validation functional_datapipe runtime_validation",
        """DFIterDataPipe DataChunk IterDataPipe MapDataPipe guaranteed_datapipes_determinism non_deterministic
        runtime_validation_disabled""",
    ),
    (
        "utils.hooks",
        "use `register_full_backward_hook`.",
        "",
        "BackwardHook",
    ),
    *(
        (f"optim.{name.lower()}", f"make an `optim.{name}` of the parameters.", name.lower(), "")
        for name in "Adadelta Adagrad Adam Adamax AdamW ASGD NAdam RAdam RMSprop Rprop SGD".split()
    ),
    ("optim.adamw", "make an `optim.AdamW` of the parameters.", "adam", ""),
)


def _own(names: str, **others: str) -> dict[str, str]:
    """Names that `rare_values.py` has, by the same name or by another one."""
    return {name: f"rare_values:{others.get(name, name)}" for name in (*names.split(), *others)}


def _from(home: str, names: str) -> dict[str, str]:
    """Names that PyTorch's module holds because it imports them from another one."""
    return {name: f"{home}:{name}" for name in names.split()}


_OPTIMIZERS = """
    optim.adadelta optim.adagrad optim.adam optim.adamax optim.asgd optim.nadam optim.radam optim.rmsprop optim.rprop
    optim.sgd
"""
# The modules -> a name -> where vistorch has the thing: "module:name".
VALUES: dict[str, dict[str, str]] = {
    "distributed.rpc.api": {"_require_initialized": "private_values:_require_initialized"},
    "torch": {
        **_own(
            """FatalError batch_norm_update_stats classproperty cudnn_is_acceptable get_autocast_ipu_dtype
            get_autocast_xla_dtype get_file_path init_num_threads is_autocast_ipu_enabled is_autocast_xla_enabled
            mkldnn_convolution native_dropout per_channel_affine per_channel_affine_float_qparams per_channel_symmetric
            per_tensor_affine per_tensor_symmetric qscheme set_autocast_ipu_dtype set_autocast_ipu_enabled
            set_autocast_xla_dtype set_autocast_xla_enabled sym_constrain_range sym_constrain_range_for_size
            sym_sqrt""",
            PRIVATE_OPS="private_ops",
            USE_GLOBAL_DEPS="no",
            USE_RTLD_GLOBAL_WITH_LIBTORCH="no",
            bit="one_bit",
        ),
        "DisableTorchFunction": "_C:DisableTorchFunction",
        "DisableTorchFunctionSubclass": "_C:DisableTorchFunctionSubclass",
        "JITException": "jit:Error",
        "Storage": "storage:FloatStorage",
        "StorageBase": "storage:UntypedStorage",
        "windows": "signal:windows",
    },
    "accelerator": _own(
        "",
        empty_host_cache="accelerator_empty_host_cache",
        memory_stats="accelerator_memory_stats",
        reset_accumulated_memory_stats="accelerator_reset_accumulated",
    ),
    "autograd autograd.grad_mode": _own("enforce_grad_layout_policy set_multithreading_enabled"),
    "autograd.graph": _own("set_override_stale_capture_stream set_warn_on_accumulate_grad_stream_mismatch"),
    "backends.cuda": _own(
        """SDPAParams allow_fp16_bf16_reduction_math_sdp can_use_cudnn_attention can_use_efficient_attention
        can_use_flash_attention fp16_bf16_reduction_math_sdp_allowed"""
    ),
    "compiler": _own("get_default_backend nested_compile_region set_default_backend"),
    "cuda": _own(
        """CudaError DeferredCudaCallError check_error get_arch_list get_gencode_flags get_sync_debug_mode
        set_sync_debug_mode""",
        default_generators="no_tuple",
    ),
    "cuda cuda.memory": _own(
        "host_memory_stats host_memory_stats_as_nested_dict",
        reset_accumulated_host_memory_stats="reset_host_memory_stats",
        reset_peak_host_memory_stats="reset_host_memory_stats",
    ),
    "func": _own("debug_unwrap functionalize"),
    "nn.attention": _own(
        "current_flash_attention_impl list_flash_attention_impls restore_flash_attention_impl",
        WARN_FOR_UNFUSED_KERNELS="no",
    ),
    "nn.functional": {
        **_own(
            "Tensor assert_int_or_pair boolean_dispatch",
            GRID_SAMPLE_INTERPOLATION_MODES="interpolation_modes",
            GRID_SAMPLE_PADDING_MODES="padding_modes",
        ),
        **{f"BroadcastingList{n}": f"jit.annotations:BroadcastingList{n}" for n in (1, 2, 3)},
        **{
            name: f"overrides:{name}"
            for name in """handle_torch_function has_torch_function has_torch_function_unary
            has_torch_function_variadic""".split()
        },
        "grad": "nn:grad",
    },
    "serialization": _own(
        """StorageType check_module_version_greater_or_equal mkdtemp normalize_storage_type"""
    ),
    "utils": {"deterministic": "utils.deterministic:", "weak": "utils.weak:"},
    "utils.hooks": _own("unserializable_hook warn_if_has_hooks"),
    # What a module holds because it imports it itself: programs take it from there.
    _OPTIMIZERS: _from("optim.optimizer", "Optimizer"),
    "optim.adadelta optim.adamax optim.adamw optim.radam optim.rmsprop": _from("", "Tensor"),
    "optim.sgd optim.sparse_adam": _from("", "Tensor"),
    "optim.adamw": _from("optim", "Adam"),
    "nn.modules.activation": _from("nn.init", "xavier_normal_ xavier_uniform_"),
    "nn.modules.batchnorm": _from("nn.parameter", "Parameter UninitializedBuffer UninitializedParameter"),
    "nn.modules.normalization": _from("", "Size"),
    "nn.modules.rnn": {**_from("nn", "Module Parameter"), **_from("nn.utils.rnn", "PackedSequence")},
    "nn.modules.transformer": {
        **_from("nn", "Dropout Linear MultiheadAttention"),
        **_from("nn.init", "xavier_uniform_"),
    },
    "nn.parallel.parallel_apply nn.parallel.replicate": _from("nn", "Module"),
    "utils.data.dataloader utils.data.distributed": _from("utils.data", "Dataset"),
}
# The modules -> a name -> what a function without arguments answers.
ANSWERS: dict[str, dict[str, Any]] = {
    "backends.cuda": {"is_ck_sdpa_available": False},
}


def rows(module: str) -> list[tuple[str, str, str]]:
    """The rows of one module: why, functions, classes.

    Args:
        module: its name without `vistorch.`; empty for `vistorch` itself.
    """
    asked = module or "torch"
    return [
        (why, functions, classes) for modules, why, functions, classes in ROWS if asked in modules.split()
    ]


def held(table: dict[str, Any], module: str) -> dict[str, Any]:
    """What a table that goes by several modules has of one.

    Args:
        table: such as `VALUES`.
        module: as in `rows`.
    """
    asked = module or "torch"
    found: dict[str, Any] = {}
    for modules, there in table.items():
        if asked in modules.split():
            found.update(there)
    return found
