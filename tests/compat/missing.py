"""PyTorch's names that vistorch has not: (modules, why, names); `*` stands for any letters.

Invariant: a pattern matches no name that exists here; `test_names.py` fails for one that does, or that matches nothing.
"""

SCRIPT = "TorchScript's own types and tools"
OTHER = "insides of PyTorch's build, not for programs"
KERNELS = "a library's own kernel, chosen by the public function"
QUANTIZED = "there are no quantized tensors"
SPARSE = "there are no sparse tensors"
TYPES = "an element type without kernels here"
SYMBOLS = "sizes that only a compiler leaves open"
CAPTURE = "nothing is captured or compiled"
POOL = "cupy's memory pool is set by cupy's own functions"
PIPES = "PyTorch gave its data pipes up"
STATEMENTS = "paragraphs of PyTorch's documentation"
DISPATCH = "vistorch does not ask `__torch_function__`"
TRACER = "vistorch.profiler measures nothing"
EIGHT = "products in 8 bits and grouped ones, for newer GPUs"

MISSING = [
    # ---- torch ----------------------------------------------------------------------------------------------
    ("torch", SCRIPT, "*Type AliasDb Argument ArgumentSpec Block CallStack Code CompilationUnit"),
    ("torch", SCRIPT, "CompleteArgumentSpec ConcreteModuleTypeBuilder ErrorReport ExecutionPlan FileCheck"),
    (
        "torch",
        SCRIPT,
        "FunctionSchema Gradient GraphExecutorState IODescriptor JITException LiteScriptModule",
    ),
    (
        "torch",
        SCRIPT,
        "BufferDict ModuleDict ParameterDict OperatorInfo Script[!M]* ScriptM[!o]* ScriptModule?* StaticModule "
        "TracingState Use",
    ),
    ("torch", SCRIPT, "DeserializationStorageContext SerializationStorageContext DeepCopyMemoTable Capsule"),
    (
        "torch",
        SCRIPT,
        "Graph Node Value Type merge_type_from_type_comment parse_type_comment unify_type_list",
    ),
    (
        "torch",
        OTHER,
        "AVG AggregationType Benchmark* DisableTorchFunction* DispatchKey* ExcludeDispatchKeyGuard",
    ),
    (
        "torch",
        OTHER,
        "FatalError LockingLogger LoggerBase NoopLogger PRIVATE_OPS SUM StorageBase",
    ),
    (
        "torch",
        OTHER,
        "DeviceObjType StreamObjType Tag ThroughputBenchmark USE_* classproperty cpp get_file_path",
    ),
    (
        "torch",
        OTHER,
        "init_num_threads prepare_multiprocessing_environment profiler_allow_* quasirandom windows",
    ),
    ("torch", OTHER, "package"),
    ("torch", "PyTorch's alias of FloatStorage, not documented", "Storage"),
    ("torch", SYMBOLS, "sym_fresh_size sym_sqrt sym_constrain*"),
    (
        "torch",
        TYPES,
        "bit bits* float4_* int1 int2 int3 int4 int5 int6 int7",
    ),
    ("torch", TYPES, "uint1 uint2 uint3 uint4 uint5 uint6 uint7"),
    ("torch", QUANTIZED, "qint* quint* qscheme per_channel_* per_tensor_* QInt* QUInt*"),
    (
        "torch",
        SPARSE,
        "ccol_indices_copy col_indices_copy crow_indices_copy row_indices_copy indices_copy values_copy",
    ),
    ("torch", KERNELS, "cudnn_* miopen_* mkldnn_* fbgemm_*"),
    ("torch", KERNELS, "batch_norm_backward_* batch_norm_elemt batch_norm_gather_stats* batch_norm_stats"),
    ("torch", KERNELS, "batch_norm_update_stats native_dropout native_norm"),
    ("torch", "devices that are not here", "*_autocast_ipu_* *_autocast_xla_*"),
    ("torch Tensor", "undoes a slice inside PyTorch's own functionalization", "slice_inverse"),
    ("Tensor", "the type of a gradient is that of its tensor", "grad_dtype"),
    ("Tensor", "dims have no names in PyTorch's first-class sense", "index"),
    ("Tensor", "PyTorch took it away long ago, but for a sentence", "reinforce"),
    # ---- autograd and the like -------------------------------------------------------------------------------
    ("autograd autograd.function", "functions of nested inputs, not documented", "NestedIOFunction"),
    (
        "autograd autograd.grad_mode",
        "PyTorch's threads and strides of gradients",
        "enforce_grad_layout_policy",
    ),
    ("autograd autograd.grad_mode", "backward has one thread here", "set_multithreading_enabled"),
    ("autograd.graph", "saved tensors are checked here, never cloned", "allow_mutation_on_saved_tensors"),
    (
        "autograd.graph",
        "for streams and compilers",
        "region_activation_memory_budget set_override_* set_warn_on_*",
    ),
    ("autograd.profiler", TRACER, "EnforceUnique KinetoStepTracker MemRecordsAcc"),
    ("autograd.profiler", TRACER, "load_nvprof parse_nvprof_trace"),
    ("profiler", TRACER, "DeviceType ExecutionTraceObserver"),
    ("func", "transforms of traced functions", "debug_unwrap functionalize linearize rearrange"),
    ("func", "for models in one batch, which vmap does not need here", "replace_all_batch_norm_modules_"),
    ("linalg", STATEMENTS, "common_notes"),
    # ---- devices --------------------------------------------------------------------------------------------
    ("accelerator", CAPTURE, "Graph"),
    (
        "accelerator",
        "counted under vistorch.cuda",
        "empty_host_cache memory_stats reset_accumulated_memory_stats",
    ),
    ("backends", "libraries that are not here", "cusparselt kleidiai m mha miopen python_native"),
    ("backends.cudnn backends.mkldnn", OTHER, "m"),
    ("backends.mps", "there is no such device", "get_core_count get_name"),
    ("backends.cuda", "attention has one kernel", "SDPAParams *_fp16_bf16_reduction_math_sdp can_use_*"),
    (
        "backends.cuda",
        "attention has one kernel",
        "fp16_bf16_reduction_math_sdp_allowed is_ck_* preferred_rocm_*",
    ),
    ("backends.cuda", "cupy keeps its own plans and workspaces", "cuBLASModule cuFFT* *_workspace_size"),
    ("compiler", CAPTURE, "config *_default_backend keep_tensor_guards_unsafe load_compiled_function"),
    ("compiler", CAPTURE, "nested_compile_region skip_guard_on_*"),
    ("cuda", "typed storages of CUDA, gone from PyTorch's programs", "*Storage"),
    (
        "cuda",
        OTHER,
        "CudaError DeferredCudaCallError check_error cudaStatus cudart current_*_handle nccl sparse",
    ),
    ("cuda", OTHER, "get_arch_list get_gencode_flags default_generators tunable"),
    ("cuda", "kernels in C++ from a string; cupy has its own", "jiterator"),
    ("cuda", "streams that another library made", "ExternalStream GreenContext get_stream_from_external"),
    ("cuda.streams", "streams that another library made", "ExternalStream"),
    ("cuda cuda.memory", POOL, "CUDAPluggableAllocator change_current_allocator"),
    (
        "cuda cuda.memory",
        POOL,
        "host_memory_stats*",
    ),
    ("cuda cuda.memory", POOL, "reset_accumulated_host_memory_stats reset_peak_host_memory_stats"),
    ("cuda", "no call waits for the device but those that say so", "*_sync_debug_mode"),
    # ---- networks and what surrounds them -------------------------------------------------------------------
    ("nn", QUANTIZED, "intrinsic qat quantizable quantized"),
    ("nn nn.modules", "options of a fused kernel, new in PyTorch", "LinearCrossEntropyOptions"),
    ("nn.attention", "attention has one kernel", "*_flash_attention_impl* WARN_FOR_UNFUSED_KERNELS"),
    ("nn.functional", SCRIPT, "BroadcastingList? assert_int_or_pair boolean_dispatch"),
    ("nn.functional", DISPATCH, "handle_torch_function has_torch_function*"),
    ("nn.functional", EIGHT, "ScalingType SwizzleType grouped_mm scaled_grouped_mm scaled_mm"),
    ("nn.functional", STATEMENTS, "reproducibility_notes sparse_support_notes tf32_notes"),
    ("nn.functional", "names of other modules", "GRID_SAMPLE_* Tensor grad"),
    ("nn.parameter", "the base of uninitialized parameters, not documented", "UninitializedTensorMixin"),
    ("optim", "for steps that are parts of graphs", "swap_in_optimizer_params_and_state"),
    (
        "serialization",
        OTHER,
        "StorageType check_module_version_greater_or_equal mkdtemp normalize_storage_type",
    ),
    ("serialization", OTHER, "storage_to_tensor_type"),
    ("testing", SCRIPT, "FileCheck"),
    (
        "utils",
        OTHER,
        "ThroughputBenchmark throughput_benchmark backcompat backend_registration cmake_prefix_path",
    ),
    ("utils", OTHER, "*cpp_backtrace generate_methods_for_* rename_privateuse1_backend weak"),
    ("utils", "fills what `empty` gives, in deterministic mode", "deterministic"),
    ("utils", "a tensor's place in memory is its own", "swap_tensors"),
    ("utils.checkpoint", "which results to keep is not chosen by op", "CheckpointPolicy SAC_IGNORED_OPS"),
    ("utils.checkpoint", "which results to keep is not chosen by op", "*elective*"),
    (
        "utils.checkpoint",
        OTHER,
        "DefaultDeviceType GraphExecGroup *_device_states set_checkpoint_debug_enabled",
    ),
    (
        "utils.data",
        PIPES,
        "DFIterDataPipe DataChunk IterDataPipe MapDataPipe argument_validation functional_datapipe",
    ),
    ("utils.data", PIPES, "guaranteed_datapipes_determinism non_deterministic runtime_validation*"),
    ("utils.hooks", OTHER, "BackwardHook unserializable_hook warn_if_has_hooks"),
]
