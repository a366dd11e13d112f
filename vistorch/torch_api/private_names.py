"""Names that libraries use though PyTorch does not document them: what each is here, and why it can be.

One table, of names and not of libraries. A name is one of four things: a thing that vistorch has under another name
(`SAME`), an answer that is true here (`ANSWERS`: nothing is compiled, traced or fake), something that may be called and
changes nothing (`NOTHING`, or for decorators and contexts `AS_IT_IS`), or a thing that says what to do when it is used
(`ROWS`).

Invariant: what is asked with hasattr or isinstance gets the answer that is true of vistorch.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Modules without a file of their own; each is made when it is first imported.
MODULES = {
    "_C": "What PyTorch has in C++: the names that programs reach for, over what is here.",
    "_C._functorch": "Which tensors stand for others inside of `func`: asked, never changed, from outside.",
    "_C._nn": "Functions of `nn.functional` by their names in C++.",
    "_dynamo": "The compiler's first half: nothing is compiled, so nothing is captured.",
    "_dynamo._trace_wrapped_higher_order_op": "For masks inside of compiled attention.",
    "_dynamo.config": "Options of a compiler that is not here: kept, never read.",
    "_dynamo.decorators": "What marks functions for the compiler.",
    "_dynamo.eval_frame": "The class of compiled modules: no module is one.",
    "_dynamo.exc": "Errors of the compiler: never raised.",
    "_dynamo.external_utils": "What asks whether a compiler is at work.",
    "_dynamo.utils": "Helpers of the compiler.",
    "_functorch": "The older home of `func`.",
    "_functorch.apis": "The older home of `func`.",
    "_functorch.eager_transforms": "The older home of `func`.",
    "_functorch.vmap": "The older home of `func.vmap`.",
    "_guards": "What a compiler knows of a program.",
    "_higher_order_ops": "Loops for the compiler.",
    "_higher_order_ops.associative_scan": "Scans for the compiler.",
    "_inductor": "The compiler's second half.",
    "_inductor.config": "Options of a compiler that is not here: kept, never read.",
    "_jit_internal": "What TorchScript is decorated and annotated with.",
    "_library": "What `library` is made of.",
    "_library.custom_ops": "What `library` is made of.",
    "_library.infer_schema": "What `library` is made of.",
    "_logging": "Logs of the compiler.",
    "_lowrank": "The older home of `svd_lowrank` and `pca_lowrank`.",
    "_ops": "Classes of operators that have a schema.",
    "_prims_common": "Names for annotations, and questions about types.",
    "_subclasses": "Tensors without values, for the compiler: no tensor is one.",
    "_subclasses.fake_tensor": "Tensors without values, for the compiler: no tensor is one.",
    "_subclasses.functional_tensor": "Tensors that the compiler writes to: no tensor is one.",
    "_tensor": "The older home of `Tensor`.",
    "_tensor_str": "How tensors are printed.",
    "_utils": "Helpers that libraries have come to use.",
    "_vmap_internals": "The older home of `func.vmap`.",
    "distributed._composable": "Sharded modules.",
    "distributed._composable.fsdp": "Sharded modules.",
    "distributed._functional_collectives": "Exchanges that give new tensors.",
    "distributed._tensor": "Tensors spread over ranks, by an older name.",
    "distributed._tensor.experimental": "Tensors spread over ranks.",
    "distributed.algorithms": "What is done with gradients between ranks.",
    "distributed.algorithms._checkpoint": "Checkpointing as a wrapper.",
    "distributed.algorithms._checkpoint.checkpoint_wrapper": "Checkpointing as a wrapper.",
    "distributed.algorithms.ddp_comm_hooks": "Hooks on what ranks exchange.",
    "distributed.algorithms.join": "Ranks with unequal inputs.",
    "distributed.algorithms.model_averaging": "Averages of models over ranks.",
    "distributed.algorithms.model_averaging.averagers": "Averages of models over ranks.",
    "distributed.checkpoint": "Files written by several ranks.",
    "distributed.checkpoint.default_planner": "Files written by several ranks.",
    "distributed.checkpoint.format_utils": "Files written by several ranks.",
    "distributed.checkpoint.hf_storage": "Files written by several ranks.",
    "distributed.checkpoint.optimizer": "Files written by several ranks.",
    "distributed.checkpoint.state_dict": "Files written by several ranks.",
    "distributed.checkpoint.state_dict_loader": "Files written by several ranks.",
    "distributed.constants": "How long ranks wait.",
    "distributed.device_mesh": "Ranks as a grid.",
    "distributed.elastic": "Ranks that come and go.",
    "distributed.elastic.multiprocessing": "Ranks that come and go.",
    "distributed.elastic.multiprocessing.errors": "Ranks that come and go.",
    "distributed.fsdp": "Sharded modules.",
    "distributed.fsdp.api": "Sharded modules.",
    "distributed.fsdp.fully_sharded_data_parallel": "Sharded modules.",
    "distributed.fsdp.sharded_grad_scaler": "Sharded modules.",
    "distributed.fsdp.wrap": "Sharded modules.",
    "distributed.launcher": "Starts ranks.",
    "distributed.launcher.api": "Starts ranks.",
    "distributed.nn": "Exchanges that are differentiated.",
    "distributed.nn.functional": "Exchanges that are differentiated.",
    "distributed.optim": "Optimizers over ranks.",
    "distributed.pipelining": "Models cut into stages.",
    "distributed.run": "Starts ranks.",
    "distributed.tensor": "Tensors spread over ranks: no tensor is one.",
    "distributed.tensor._utils": "Tensors spread over ranks.",
    "distributed.tensor.experimental": "Tensors spread over ranks.",
    "distributed.tensor.experimental._attention": "Attention over ranks.",
    "distributed.tensor.parallel": "Modules spread over ranks.",
    "distributed.tensor.placement_types": "Tensors spread over ranks.",
    "distributed.utils": "Helpers of ranks.",
    "fx._pytree": "Containers of traced programs.",
    "fx.experimental": "Tracing, for the compiler.",
    "fx.experimental.proxy_tensor": "Tracing, for the compiler: nothing is traced.",
    "classes": "Classes compiled for TorchScript: none can be loaded.",
    "fx.experimental.symbolic_shapes": "Sizes that a compiler does not know: all are known here.",
    "fx.node": "Nodes of traced programs.",
    "fx.passes": "Changes of traced programs.",
    "fx.passes.infra": "Changes of traced programs.",
    "fx.passes.infra.pass_base": "Changes of traced programs.",
    "fx.proxy": "Values of traced programs.",
    "monitor": "Counters of long runs.",
    "nn.attention.flex_attention": "Attention with a score of one's own, for the compiler.",
    "numa": "Memory near a processor.",
    "numa.binding": "Memory near a processor.",
    "onnx._internal": "Export to ONNX.",
    "onnx._internal.exporter": "Export to ONNX.",
    "utils._foreach_utils": "What optimizers for many devices group tensors with.",
    "utils.cpp_extension": "Kernels in C++.",
    "utils.data.datapipes": "PyTorch's former pipes of data.",
    "utils.data.datapipes.iter": "PyTorch's former pipes of data.",
    "utils.data.datapipes.iter.combinatorics": "PyTorch's former pipes of data.",
    "utils.tensorboard.summary": "The parts of an event file.",
    "vision.models._api": "The networks by name.",
    "vision.models._utils": "What networks are cut and built with.",
    "vision.transforms.autoaugment": "Transforms that draw what they do.",
    "vision.transforms.transforms": "The older home of `transforms`.",
}

_RANKS = "use `distributed` and `nn.parallel` as far as they go, or train in one process."
_COMPILER = "vistorch has no compiler; run the function as it is."
_SCRIPT = "vistorch has no TorchScript; save the state_dict."
_TRACED = "vistorch traces no programs; look at `named_modules()` and at forward hooks."

# module, why (what to do instead), functions, classes: as in `unbuilt.py`.
ROWS: tuple[tuple[str, str, str, str], ...] = (
    (
        "_C",
        _SCRIPT,
        "_jit_script_compile parse_schema import_ir_module",
        "Graph Value Node Block Function ScriptFunction ScriptModule CompilationUnit FunctionSchema ClassType ListType "
        "TensorType TupleType DictType OptionalType IntType FloatType StringType Type",
    ),
    (
        "_C",
        "`vistorch.load` and `vistorch.save` read and write these files.",
        "",
        "PyTorchFileReader PyTorchFileWriter",
    ),
    ("_dynamo", _COMPILER, "explain export optimize_assert", "OptimizedModule"),
    ("_dynamo.eval_frame", _COMPILER, "explain export", "OptimizedModule"),
    ("_higher_order_ops", _COMPILER, "cond while_loop scan associative_scan", ""),
    ("_higher_order_ops.associative_scan", _COMPILER, "associative_scan", ""),
    ("_inductor", _COMPILER, "compile aot_compile", ""),
    ("_jit_internal", _SCRIPT, "boolean_dispatch", ""),
    ("_ops", "operators are vistorch's functions.", "", "HigherOrderOperator"),
    ("_subclasses", _COMPILER, "", "FakeTensor FakeTensorMode CrossRefFakeMode"),
    ("_subclasses.fake_tensor", _COMPILER, "", "FakeTensor FakeTensorMode FakeTensorConverter"),
    ("_subclasses.functional_tensor", _COMPILER, "", "FunctionalTensor FunctionalTensorMode"),
    ("distributed._composable.fsdp", _RANKS, "fully_shard", "FSDPModule MixedPrecisionPolicy OffloadPolicy"),
    (
        "distributed._functional_collectives",
        "use the functions of `distributed`.",
        "all_gather_tensor all_gather_tensor_autograd all_reduce all_to_all_single all_to_all_single_autograd "
        "broadcast reduce_scatter_tensor reduce_scatter_tensor_autograd wait_tensor",
        "AsyncCollectiveTensor",
    ),
    (
        "distributed._tensor",
        _RANKS,
        "distribute_tensor distribute_module",
        "DTensor",
    ),
    ("distributed._tensor.experimental", _RANKS, "implicit_replication local_map", ""),
    (
        "distributed.algorithms._checkpoint.checkpoint_wrapper",
        "use `utils.checkpoint.checkpoint`.",
        "checkpoint_wrapper apply_activation_checkpointing",
        "CheckpointWrapper CheckpointImpl",
    ),
    ("distributed.algorithms.ddp_comm_hooks", _RANKS, "register_ddp_comm_hook", "DDPCommHookType"),
    ("distributed.algorithms.join", _RANKS, "", "Join Joinable JoinHook"),
    ("distributed.algorithms.model_averaging.averagers", _RANKS, "", "ModelAverager PeriodicModelAverager"),
    (
        "distributed.checkpoint",
        "save the state_dict with `vistorch.save`.",
        "save load save_state_dict load_state_dict async_save",
        "FileSystemReader FileSystemWriter StorageReader StorageWriter DefaultSavePlanner DefaultLoadPlanner",
    ),
    ("distributed.checkpoint.default_planner", _RANKS, "", "DefaultSavePlanner DefaultLoadPlanner"),
    (
        "distributed.checkpoint.format_utils",
        _RANKS,
        "dcp_to_torch_save torch_save_to_dcp",
        "_EmptyStateDictLoadPlanner",
    ),
    (
        "distributed.checkpoint.hf_storage",
        "save the state_dict with `vistorch.save`.",
        "",
        "HuggingFaceStorageReader HuggingFaceStorageWriter",
    ),
    ("distributed.checkpoint.optimizer", _RANKS, "load_sharded_optimizer_state_dict", ""),
    (
        "distributed.checkpoint.state_dict",
        "use the module's and the optimizer's own state_dict.",
        "get_model_state_dict set_model_state_dict get_optimizer_state_dict set_optimizer_state_dict get_state_dict "
        "set_state_dict",
        "StateDictOptions",
    ),
    ("distributed.checkpoint.state_dict_loader", _RANKS, "_load_state_dict load load_state_dict", ""),
    ("distributed.device_mesh", _RANKS, "init_device_mesh", "DeviceMesh"),
    ("distributed.elastic.multiprocessing.errors", _RANKS, "", "ChildFailedError"),
    (
        "distributed.fsdp",
        _RANKS,
        "fully_shard register_fsdp_forward_method",
        "FullyShardedDataParallel FSDPModule ShardingStrategy MixedPrecision MixedPrecisionPolicy CPUOffload "
        "CPUOffloadPolicy OffloadPolicy BackwardPrefetch StateDictType FullStateDictConfig ShardedStateDictConfig "
        "LocalStateDictConfig FullOptimStateDictConfig ShardedOptimStateDictConfig OptimStateKeyType",
    ),
    (
        "distributed.fsdp.api",
        _RANKS,
        "",
        "ShardingStrategy MixedPrecision CPUOffload BackwardPrefetch StateDictType FullStateDictConfig "
        "ShardedStateDictConfig FullOptimStateDictConfig ShardedOptimStateDictConfig",
    ),
    (
        "distributed.fsdp.fully_sharded_data_parallel",
        _RANKS,
        "",
        "FullyShardedDataParallel ShardingStrategy MixedPrecision CPUOffload BackwardPrefetch StateDictType "
        "FullStateDictConfig FullOptimStateDictConfig",
    ),
    ("distributed.fsdp.sharded_grad_scaler", _RANKS, "", "ShardedGradScaler"),
    (
        "distributed.fsdp.wrap",
        _RANKS,
        "enable_wrap wrap size_based_auto_wrap_policy transformer_auto_wrap_policy always_wrap_policy "
        "lambda_auto_wrap_policy",
        "ModuleWrapPolicy CustomPolicy",
    ),
    ("distributed.launcher.api", _RANKS, "elastic_launch launch_agent", "LaunchConfig"),
    ("distributed.nn.functional", _RANKS, "all_gather all_reduce reduce_scatter broadcast", ""),
    (
        "distributed.optim",
        _RANKS,
        "",
        "DistributedOptimizer PostLocalSGDOptimizer ZeroRedundancyOptimizer",
    ),
    ("distributed.pipelining", _RANKS, "pipeline pipe_split", "ScheduleGPipe SplitPoint PipelineStage"),
    ("distributed.run", _RANKS, "main run get_args_parser", ""),
    (
        "distributed.tensor",
        _RANKS,
        "distribute_tensor distribute_module ones zeros empty full rand randn",
        "DTensor",
    ),
    ("distributed.tensor._utils", _RANKS, "compute_local_shape_and_global_offset", ""),
    ("distributed.tensor.experimental", _RANKS, "context_parallel implicit_replication local_map", ""),
    ("distributed.tensor.experimental._attention", _RANKS, "context_parallel set_rotate_method", ""),
    (
        "distributed.tensor.parallel",
        _RANKS,
        "parallelize_module loss_parallel",
        "ColwiseParallel RowwiseParallel SequenceParallel PrepareModuleInput PrepareModuleOutput ParallelStyle",
    ),
    ("distributed.tensor.placement_types", _RANKS, "", "_StridedShard"),
    ("distributed.utils", _RANKS, "_sync_module_states _replace_by_prefix", ""),
    ("fx._pytree", _TRACED, "register_pytree_flatten_spec tree_flatten_spec", ""),
    ("fx.experimental.proxy_tensor", _TRACED, "make_fx", "ProxyTorchDispatchMode"),
    ("fx.experimental.symbolic_shapes", _COMPILER, "", "ShapeEnv DimDynamic StatelessSymbolicContext"),
    ("fx.node", _TRACED, "map_arg map_aggregate", "Argument BaseArgumentTypes Node Target"),
    ("fx.passes.infra.pass_base", _TRACED, "", "PassBase PassResult"),
    ("fx.proxy", _TRACED, "", "Proxy Attribute"),
    ("monitor", "write what you count to a file.", "log_event", "Stat Event TensorboardEventHandler"),
    (
        "nn.attention.flex_attention",
        "use `nn.functional.scaled_dot_product_attention` with a mask.",
        "flex_attention create_block_mask create_mask and_masks or_masks noop_mask",
        "BlockMask AuxRequest AuxOutput",
    ),
    ("numa.binding", "bind the process with the system's own tools.", "", "AffinityMode NumaOptions"),
    (
        "onnx._internal.exporter",
        "save the state_dict, load it in PyTorch and export it there.",
        "",
        "ONNXProgram",
    ),
    (
        "utils.cpp_extension",
        "write an `autograd.Function` over numpy, cupy or numba.",
        "load load_inline include_paths library_paths",
        "CppExtension CUDAExtension BuildExtension",
    ),
    (
        "utils.data.datapipes.iter.combinatorics",
        "use an IterableDataset.",
        "",
        "ShufflerIterDataPipe SamplerIterDataPipe",
    ),
)

_PLACEMENTS = {name: f"private_values:{name}" for name in ("Placement", "Partial", "Replicate", "Shard")}
# A name -> where vistorch has the thing: "module:name", or a name of vistorch itself.
SAME: dict[str, dict[str, str]] = {
    "_C": {
        **{
            name: name
            for name in "Generator Size dtype device layout memory_format Stream default_generator".split()
        },
        **dict.fromkeys("TensorBase _TensorBase".split(), "Tensor"),
        "_LinAlgError": "linalg:LinAlgError",
        "_OutOfMemoryError": "OutOfMemoryError",
        "Future": "futures:Future",
        "_get_accelerator": "private_values:get_accelerator",
        "_VariableFunctions": "",
        "_TensorMeta": "private_values:TensorMeta",
        "_set_grad_enabled": "set_grad_enabled",
        "is_grad_enabled": "is_grad_enabled",
        "is_autocast_enabled": "is_autocast_enabled",
        "_len_torch_function_stack": "overrides:_stack_length",
        "_disabled_torch_function_impl": "overrides:disabled",
        "DisableTorchFunction": "overrides:DisableTorchFunction",
        "DisableTorchFunctionSubclass": "overrides:DisableTorchFunctionSubclass",
    },
    "_C._nn": {
        name: f"nn.functional:{name}"
        for name in """
        avg_pool2d avg_pool3d adaptive_avg_pool2d adaptive_avg_pool3d cross_entropy_loss:cross_entropy elu elu_ gelu glu
        hardsigmoid hardswish hardtanh huber_loss l1_loss leaky_relu linear log_sigmoid:logsigmoid mish mse_loss
        multi_margin_loss nll_loss one_hot pad relu6 scaled_dot_product_attention silu smooth_l1_loss
        soft_margin_loss softplus
        """.split()
        if ":" not in name
    },
    "_dynamo": {"is_compiling": "compiler:is_compiling", "reset": "compiler:reset"},
    "_dynamo.external_utils": {"is_compiling": "compiler:is_compiling"},
    "_functorch": {},
    "_functorch.apis": {"vmap": "func:vmap", "grad": "func:grad", "grad_and_value": "func:grad_and_value"},
    "_functorch.eager_transforms": {
        name: f"func:{name}" for name in "grad grad_and_value hessian jacfwd jacrev jvp vjp".split()
    },
    "_functorch.vmap": {"vmap": "func:vmap"},
    "_lowrank": {"pca_lowrank": "pca_lowrank", "svd_lowrank": "svd_lowrank"},
    "_ops": {name: f"library.operators:{name}" for name in ("OpOverload", "OpOverloadPacket")},
    "_library.custom_ops": {"CustomOpDef": "library:CustomOpDef", "custom_op": "library:custom_op"},
    "_library.infer_schema": {"infer_schema": "library:infer_schema"},
    "_tensor": {"Tensor": "Tensor", "_rebuild_from_type_v2": "serialization.rebuild:rebuild_from_type_v2"},
    "_tensor_str": {
        "PRINT_OPTS": "engine.methods.format:options",
        **{name: name for name in ("get_printoptions", "printoptions", "set_printoptions")},
    },
    "_vmap_internals": {"vmap": "func:vmap", "_vmap": "func:vmap"},
    "distributed._tensor": _PLACEMENTS,
    "distributed.tensor": {
        **{name: f"distributed.device_mesh:{name}" for name in ("DeviceMesh", "init_device_mesh")},
        **_PLACEMENTS,
    },
    "distributed.tensor.placement_types": _PLACEMENTS,
    "fx.experimental.proxy_tensor": {"get_proxy_mode": "private_values:none"},
    "vision.models._api": {
        name: f"vision.models:{name}"
        for name in """Weights WeightsEnum get_model get_model_builder get_model_weights get_weight list_models
        register_model""".split()
    },
    "vision.models._utils": {
        "IntermediateLayerGetter": "vision.models.intermediate:IntermediateLayerGetter",
        "_make_divisible": "vision.models.mobilenetv2:_make_divisible",
    },
    "vision.transforms.autoaugment": {
        name: f"vision.transforms:{name}"
        for name in "AugMix AutoAugment AutoAugmentPolicy InterpolationMode RandAugment TrivialAugmentWide".split()
    },
    "vision.transforms.transforms": {
        name: f"vision.transforms:{name}"
        for name in """CenterCrop ColorJitter Compose ConvertImageDtype ElasticTransform FiveCrop GaussianBlur
        Grayscale InterpolationMode Lambda LinearTransformation Normalize PILToTensor Pad RandomAdjustSharpness
        RandomAffine RandomApply RandomAutocontrast RandomChoice RandomCrop RandomEqualize RandomErasing
        RandomGrayscale RandomHorizontalFlip RandomInvert RandomOrder RandomPerspective RandomPosterize
        RandomResizedCrop RandomRotation RandomSolarize RandomTransforms RandomVerticalFlip Resize TenCrop
        ToPILImage ToTensor""".split()
    },
}

_TRUE_HERE = """
_are_functorch_transforms_active _cuda_isInBadFork _get_tracing_state _is_tracing _jit_can_fuse_on_cpu
_jit_can_fuse_on_gpu _jit_set_profiling_executor _jit_set_profiling_mode _jit_set_texpr_fuser_enabled
_jit_texpr_fuser_enabled _jit_set_nvfuser_enabled _jit_nvfuser_enabled _jit_set_nvfuser_guard_mode
_is_torch_function_mode_enabled
""".split()
# What is true here, as a value for a function of any arguments.
ANSWERS: dict[str, dict[str, Any]] = {
    "_C": {
        **dict.fromkeys(_TRUE_HERE, False),
        "_get_tracing_state": None,
        "_get_privateuse1_backend_name": "privateuseone",
        "_get_cudnn_enabled": True,
        "_is_torch_function_enabled": True,
    },
    "_C._functorch": dict.fromkeys(
        """is_batchedtensor is_functionaltensor is_functorch_wrapped_tensor is_gradtrackingtensor
        is_legacy_batchedtensor""".split(),
        False,
    ),
    "_dynamo": {"is_dynamo_supported": False, "list_backends": []},
    "_dynamo.eval_frame": {"is_dynamo_supported": False},
    "_dynamo.utils": {"is_compile_supported": False},
    "_guards": {"detect_fake_mode": None},
    "_inductor": {"list_mode_options": {}, "list_options": []},
    "_jit_internal": {"is_scripting": False},
    "_subclasses.fake_tensor": {"is_fake": False},
    "distributed.tensor": {},
}
# What may be called, with any arguments, and changes nothing.
NOTHING: dict[str, str] = {
    "_C": """_cuda_clearCublasWorkspaces _jit_override_can_fuse_on_cpu _jit_override_can_fuse_on_gpu
    _jit_set_fusion_strategy _log_api_usage_once _log_api_usage_metadata _set_cudnn_enabled
    _set_deterministic_algorithms""",
    "_dynamo": "graph_break mark_dynamic mark_static mark_static_address maybe_mark_dynamic mark_unbacked",
    "_dynamo.decorators": "mark_dynamic mark_static mark_static_address maybe_mark_dynamic graph_break",
    "_inductor": "cudagraph_mark_step_begin",
    "_logging": "set_logs warning_once trace_structured",
}
# Decorators that give what they are given, with or without brackets.
AS_IT_IS: dict[str, str] = {
    "_dynamo": """allow_in_graph assume_constant_result disable disallow_in_graph forbid_in_graph optimize run
    substitute_in_graph""",
    "_dynamo.decorators": "allow_in_graph assume_constant_result disable forbid_in_graph substitute_in_graph",
    "_dynamo.eval_frame": "disable optimize",
    "_jit_internal": """_copy_to_script_wrapper _overload _overload_method export ignore unused weak_module
    weak_script_method""",
}
# `with` blocks that change nothing.
BLOCKS: dict[str, str] = {
    "_C": "_DisableTorchDispatch",
    "_dynamo._trace_wrapped_higher_order_op": "TransformGetItemToIndex",
}
# Errors that are never raised.
ERRORS: dict[str, str] = {
    "_dynamo.exc": """TorchDynamoException TorchRuntimeError Unsupported UserError BackendCompilerFailed
    InternalTorchDynamoError TensorifyScalarRestartAnalysis""",
    "fx.experimental.symbolic_shapes": "GuardOnDataDependentSymNode",
    "_subclasses.fake_tensor": """DataDependentOutputException DynamicOutputShapeException
    UnsupportedFakeTensorException""",
}
# Modules that keep options which nothing reads.
OPTIONS = {
    "_dynamo.config": {
        "cache_size_limit": 8,
        "capture_dynamic_output_shape_ops": False,
        "capture_scalar_outputs": False,
        "recompile_limit": 8,
        "suppress_errors": False,
        "verbose": False,
        "optimize_ddp": True,
        "skip_fwd_side_effects_in_bwd_under_checkpoint": False,
    },
    "_inductor.config": {"emulate_precision_casts": False, "fallback_random": False},
}
# Names that are plain values, from a module of ours that has them: "module:name".
VALUES: dict[str, dict[str, str]] = {
    "_C._nn": {"_parse_to": "private_values:parse_to"},
    "_jit_internal": {
        name: f"jit.annotations:{name}"
        for name in """Any BroadcastingList1 BroadcastingList2 BroadcastingList3 Dict Future List Optional Tuple
        Union""".split()
    },
    "_prims_common": {
        name: f"private_values:{name}"
        for name in """DeviceLikeType ShapeType TensorLikeType is_boolean_dtype is_complex_dtype is_contiguous_or_false
        is_float_dtype is_integer_dtype make_contiguous_strides_for""".split()
    },
    "_tensor_str": {"_tensor_str": "private_values:_tensor_str"},
    "_utils": {
        name: f"private_values:{name}"
        for name in """ExceptionWrapper _element_size _flatten_dense_tensors _get_all_device_indices
        _get_available_device_type _get_device_index _import_dotted_name _rebuild_parameter _rebuild_tensor_v2
        _unflatten_dense_tensors""".split()
    },
    "distributed.constants": {
        "default_pg_timeout": "private_values:half_an_hour",
        "default_pg_nccl_timeout": "private_values:half_an_hour",
    },
    "fx.experimental.symbolic_shapes": {
        **{
            name: f"private_values:{name}"
            for name in ("guard_or_false", "guard_or_true", "guard_size_oblivious")
        },
        "statically_known_true": "private_values:guard_or_false",
        **dict.fromkeys(("free_symbols", "free_unbacked_symbols"), "private_values:no_symbols"),
    },
    "nn.attention.flex_attention": {"_DEFAULT_SPARSE_BLOCK_SIZE": "private_values:sparse_block_size"},
    "utils._foreach_utils": {
        name: f"private_values:{name}"
        for name in """_device_has_foreach_support _get_foreach_kernels_supported_devices
        _get_fused_kernels_supported_devices _group_tensors_by_device_and_dtype _has_foreach_support""".split()
    },
    "utils.tensorboard.summary": {"hparams": "private_values:hparams"},
}


def found(where: str) -> Any:
    """What a row of `SAME` or `VALUES` names.

    Args:
        where: "module:name", or a name of vistorch itself.
    """
    module, _, name = where.rpartition(":")
    holder = import_module(f"vistorch.{module}" if module else "vistorch")
    return getattr(holder, name) if name else holder
