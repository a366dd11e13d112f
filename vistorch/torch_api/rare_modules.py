"""Public modules of PyTorch that vistorch has no file of, and their names: found at the import, refused at the call.

`python -m tests.compat.public_modules` writes the table: a module, then functions (`f`), classes (`c`), plain values
(`v`), and what another module of ours has under the same name (`=`). Invariant: nothing here is made before a program
imports the module.
"""

from __future__ import annotations

import ast
from functools import cache
from typing import Any, NamedTuple

# What to use instead, by the beginning of a module's name; the longest that fits is taken.
WHY = {
    "accelerator": "vistorch captures graphs of CUDA alone; use `cuda.CUDAGraph`.",
    "ao": "vistorch has no quantized tensors; train and run in float32, float16 or bfloat16.",
    "ao.ns": "vistorch has no quantized tensors; compare the outputs of two models by forward hooks.",
    "ao.pruning": "use `nn.utils.prune`.",
    "autograd": "vistorch.profiler measures nothing; use `cProfile`.",
    "backends": "vistorch computes with numpy, oneDNN and cupy.",
    "cuda": "use `vistorch.cuda` for what it has, and cupy for the rest.",
    "cuda.nccl": "use `distributed`, which exchanges by NCCL where it is installed.",
    "cuda.sparse": "vistorch's tensors are dense.",
    "distributed": "use `distributed` and `nn.parallel` as far as they go, or train in one process.",
    "distributed.checkpoint": "save the state_dict with `vistorch.save`.",
    "distributed.elastic": "start the ranks with `mpirun` or `vistorch ranks`.",
    "export": "vistorch does not trace modules; save the state_dict.",
    "fx": "vistorch traces no programs; look at `named_modules()` and at forward hooks.",
    "jit": "vistorch has no TorchScript; write it in plain Python.",
    "masked": "give the mask to the function, as in `masked.sum(x, mask=mask)`.",
    "mps": "vistorch has CPU and CUDA devices.",
    "mtia": "vistorch has CPU and CUDA devices.",
    "nn": "vistorch has no quantized layers; use those of `nn` in float32, float16 or bfloat16.",
    "nn.attention": "use `nn.functional.scaled_dot_product_attention`.",
    "nn.cpp": "vistorch has no modules written in C++; write an `nn.Module`.",
    "nn.modules": "use the layers of `nn`.",
    "onnx": "save the state_dict, load it in PyTorch and export it there.",
    "package": "save the state_dict and keep the code beside it.",
    "profiler": "vistorch.profiler measures nothing; use `cProfile`.",
    "quantization": "vistorch has no quantized tensors; train and run in float32, float16 or bfloat16.",
    "quasirandom": "draw them by `scipy.stats.qmc.Sobol` and convert with `from_numpy`.",
    "sparse": "vistorch's tensors are dense.",
    "utils": "no program needs it here; see `docs/differences.md`.",
    "utils.backend_registration": "vistorch has CPU and CUDA devices.",
    "utils.benchmark": "measure with `utils.benchmark.Timer`.",
    "utils.bundled_inputs": "vistorch has no TorchScript; keep the inputs beside the state_dict.",
    "utils.cpp_backtrace": "vistorch is Python; use `traceback`.",
    "utils.data": "PyTorch gave its data pipes up; write a `utils.data.IterableDataset`.",
    "utils.jit": "vistorch has no TorchScript; write it in plain Python.",
    "utils.mkldnn": "call the layer as it is; oneDNN's kernels are chosen where they are faster.",
    "utils.mobile_optimizer": "vistorch has no TorchScript; save the state_dict.",
    "utils.model_dump": "look at the file with `vistorch.load`.",
    "utils.throughput_benchmark": "measure with `utils.benchmark.Timer`.",
    "utils.viz": "vistorch.profiler measures nothing; use `cProfile`.",
    "xpu": "vistorch has CPU and CUDA devices.",
}
# Questions that a program asks before it decides: answered with no.
NO = frozenset(
    """
    is_available is_capturing_metal is_current_stream_capturing is_enabled is_metal_capture_enabled
    record_untuned_is_enabled tuning_is_enabled
    """.split()
)

TABLE = """
accelerator.graphs
 = accelerator: Graph
accelerator.memory
 = accelerator: empty_cache empty_host_cache get_memory_info max_memory_allocated max_memory_reserved
 = accelerator: memory_allocated memory_reserved memory_stats reset_accumulated_memory_stats
 = accelerator: reset_peak_memory_stats
ao.nn
ao.nn.intrinsic
 = ao.nn.intrinsic.modules.fused: BNReLU2d BNReLU3d ConvAdd2d ConvAddReLU2d ConvBn1d ConvBn2d ConvBn3d
 = ao.nn.intrinsic.modules.fused: ConvBnReLU1d ConvBnReLU2d ConvBnReLU3d ConvReLU1d ConvReLU2d ConvReLU3d
 = ao.nn.intrinsic.modules.fused: LinearBn1d LinearLeakyReLU LinearReLU LinearTanh
ao.nn.intrinsic.modules
 = ao.nn.intrinsic.modules.fused: BNReLU2d BNReLU3d ConvAdd2d ConvAddReLU2d ConvBn1d ConvBn2d ConvBn3d
 = ao.nn.intrinsic.modules.fused: ConvBnReLU1d ConvBnReLU2d ConvBnReLU3d ConvReLU1d ConvReLU2d ConvReLU3d
 = ao.nn.intrinsic.modules.fused: LinearBn1d LinearLeakyReLU LinearReLU LinearTanh
ao.nn.intrinsic.modules.fused
 c BNReLU2d BNReLU3d ConvAdd2d ConvAddReLU2d ConvBn1d ConvBn2d ConvBn3d ConvBnReLU1d ConvBnReLU2d ConvBnReLU3d
 c ConvReLU1d ConvReLU2d ConvReLU3d LinearBn1d LinearLeakyReLU LinearReLU LinearTanh
ao.nn.intrinsic.qat
 = ao.nn.intrinsic.qat.modules.conv_fused: ConvBn1d ConvBn2d ConvBn3d ConvBnReLU1d ConvBnReLU2d ConvBnReLU3d
 = ao.nn.intrinsic.qat.modules.conv_fused: ConvReLU1d ConvReLU2d ConvReLU3d freeze_bn_stats update_bn_stats
 = ao.nn.intrinsic.qat.modules.linear_fused: LinearBn1d
 = ao.nn.intrinsic.qat.modules.linear_relu: LinearReLU
ao.nn.intrinsic.qat.modules
 = ao.nn.intrinsic.qat.modules.conv_fused: ConvBn1d ConvBn2d ConvBn3d ConvBnReLU1d ConvBnReLU2d ConvBnReLU3d
 = ao.nn.intrinsic.qat.modules.conv_fused: ConvReLU1d ConvReLU2d ConvReLU3d freeze_bn_stats update_bn_stats
 = ao.nn.intrinsic.qat.modules.linear_fused: LinearBn1d
 = ao.nn.intrinsic.qat.modules.linear_relu: LinearReLU
ao.nn.intrinsic.qat.modules.conv_fused
 f freeze_bn_stats update_bn_stats
 c ConvBn1d ConvBn2d ConvBn3d ConvBnReLU1d ConvBnReLU2d ConvBnReLU3d ConvReLU1d ConvReLU2d ConvReLU3d
ao.nn.intrinsic.qat.modules.linear_fused
 c LinearBn1d
ao.nn.intrinsic.qat.modules.linear_relu
 c LinearReLU
ao.nn.intrinsic.quantized
 = ao.nn.intrinsic.quantized.modules.bn_relu: BNReLU2d BNReLU3d
 = ao.nn.intrinsic.quantized.modules.conv_add: ConvAdd2d ConvAddReLU2d
 = ao.nn.intrinsic.quantized.modules.conv_relu: ConvReLU1d ConvReLU2d ConvReLU3d
 = ao.nn.intrinsic.quantized.modules.linear_relu: LinearLeakyReLU LinearReLU LinearTanh
ao.nn.intrinsic.quantized.dynamic
 = ao.nn.intrinsic.quantized.dynamic.modules.linear_relu: LinearReLU
ao.nn.intrinsic.quantized.dynamic.modules
 = ao.nn.intrinsic.quantized.dynamic.modules.linear_relu: LinearReLU
ao.nn.intrinsic.quantized.dynamic.modules.linear_relu
 c LinearReLU
ao.nn.intrinsic.quantized.modules
 = ao.nn.intrinsic.quantized.modules.bn_relu: BNReLU2d BNReLU3d
 = ao.nn.intrinsic.quantized.modules.conv_add: ConvAdd2d ConvAddReLU2d
 = ao.nn.intrinsic.quantized.modules.conv_relu: ConvReLU1d ConvReLU2d ConvReLU3d
 = ao.nn.intrinsic.quantized.modules.linear_relu: LinearLeakyReLU LinearReLU LinearTanh
ao.nn.intrinsic.quantized.modules.bn_relu
 c BNReLU2d BNReLU3d
ao.nn.intrinsic.quantized.modules.conv_add
 c ConvAdd2d ConvAddReLU2d
ao.nn.intrinsic.quantized.modules.conv_relu
 c ConvReLU1d ConvReLU2d ConvReLU3d
ao.nn.intrinsic.quantized.modules.linear_relu
 c LinearLeakyReLU LinearReLU LinearTanh
ao.nn.qat
 = ao.nn.qat.modules.conv: Conv1d Conv2d Conv3d
 = ao.nn.qat.modules.embedding_ops: Embedding EmbeddingBag
 = ao.nn.qat.modules.linear: Linear
ao.nn.qat.dynamic
 = ao.nn.qat.dynamic.modules.linear: Linear
ao.nn.qat.dynamic.modules
 = ao.nn.qat.dynamic.modules.linear: Linear
ao.nn.qat.dynamic.modules.linear
 c Linear
ao.nn.qat.modules
 = ao.nn.qat.modules.conv: Conv1d Conv2d Conv3d
 = ao.nn.qat.modules.embedding_ops: Embedding EmbeddingBag
 = ao.nn.qat.modules.linear: Linear
ao.nn.qat.modules.conv
 c Conv1d Conv2d Conv3d
ao.nn.qat.modules.embedding_ops
 c Embedding EmbeddingBag
ao.nn.qat.modules.linear
 c Linear
ao.nn.quantizable
 = ao.nn.quantizable.modules.activation: MultiheadAttention
 = ao.nn.quantizable.modules.rnn: LSTM LSTMCell
ao.nn.quantizable.modules
 = ao.nn.quantizable.modules.activation: MultiheadAttention
 = ao.nn.quantizable.modules.rnn: LSTM LSTMCell
ao.nn.quantizable.modules.activation
 c MultiheadAttention
ao.nn.quantizable.modules.rnn
 c LSTM LSTMCell
ao.nn.quantized
 = ao.nn.quantized.modules: DeQuantize Quantize
 = ao.nn.quantized.modules.activation: ELU Hardswish LeakyReLU MultiheadAttention PReLU ReLU6 Sigmoid Softmax
 = ao.nn.quantized.modules.batchnorm: BatchNorm2d BatchNorm3d
 = ao.nn.quantized.modules.conv: Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d
 = ao.nn.quantized.modules.dropout: Dropout
 = ao.nn.quantized.modules.embedding_ops: Embedding EmbeddingBag
 = ao.nn.quantized.modules.functional_modules: FXFloatFunctional FloatFunctional QFunctional
 = ao.nn.quantized.modules.linear: Linear
 = ao.nn.quantized.modules.normalization: GroupNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d LayerNorm
 = ao.nn.quantized.modules.rnn: LSTM
ao.nn.quantized.dynamic
 = ao.nn.quantized.dynamic.modules.conv: Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d
 = ao.nn.quantized.dynamic.modules.linear: Linear
 = ao.nn.quantized.dynamic.modules.rnn: GRU GRUCell LSTM LSTMCell RNNCell
ao.nn.quantized.dynamic.modules
 = ao.nn.quantized.dynamic.modules.conv: Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d
 = ao.nn.quantized.dynamic.modules.linear: Linear
 = ao.nn.quantized.dynamic.modules.rnn: GRU GRUCell LSTM LSTMCell RNNCell
ao.nn.quantized.dynamic.modules.conv
 c Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d
ao.nn.quantized.dynamic.modules.linear
 c Linear
ao.nn.quantized.dynamic.modules.rnn
 f apply_permutation pack_weight_bias
 c GRU GRUCell LSTM LSTMCell PackedParameter RNNBase RNNCell RNNCellBase
ao.nn.quantized.functional
 f adaptive_avg_pool2d adaptive_avg_pool3d avg_pool2d avg_pool3d celu clamp conv1d conv2d conv3d elu
 f hardsigmoid hardswish hardtanh interpolate leaky_relu linear max_pool1d max_pool2d threshold upsample
 f upsample_bilinear upsample_nearest
ao.nn.quantized.modules
 c DeQuantize Quantize
 = ao.nn.quantized.modules.activation: ELU Hardswish LeakyReLU MultiheadAttention PReLU ReLU6 Sigmoid Softmax
 = ao.nn.quantized.modules.batchnorm: BatchNorm2d BatchNorm3d
 = ao.nn.quantized.modules.conv: Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d
 = ao.nn.quantized.modules.dropout: Dropout
 = ao.nn.quantized.modules.embedding_ops: Embedding EmbeddingBag
 = ao.nn.quantized.modules.functional_modules: FXFloatFunctional FloatFunctional QFunctional
 = ao.nn.quantized.modules.linear: Linear
 = ao.nn.quantized.modules.normalization: GroupNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d LayerNorm
 = ao.nn.quantized.modules.rnn: LSTM
ao.nn.quantized.modules.activation
 c ELU Hardswish LeakyReLU MultiheadAttention PReLU ReLU6 Sigmoid Softmax
ao.nn.quantized.modules.batchnorm
 c BatchNorm2d BatchNorm3d
ao.nn.quantized.modules.conv
 c Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d
ao.nn.quantized.modules.dropout
 c Dropout
ao.nn.quantized.modules.embedding_ops
 c Embedding EmbeddingBag EmbeddingPackedParams
ao.nn.quantized.modules.functional_modules
 c FXFloatFunctional FloatFunctional QFunctional
ao.nn.quantized.modules.linear
 c Linear LinearPackedParams
ao.nn.quantized.modules.normalization
 c GroupNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d LayerNorm
ao.nn.quantized.modules.rnn
 c LSTM
ao.nn.quantized.modules.utils
 c WeightedQuantizedModule
ao.nn.quantized.reference
 = ao.nn.quantized.reference.modules.conv: Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d
 = ao.nn.quantized.reference.modules.conv: ConvTranspose3d
 = ao.nn.quantized.reference.modules.linear: Linear
 = ao.nn.quantized.reference.modules.rnn: GRU GRUCell LSTM LSTMCell RNNCell
 = ao.nn.quantized.reference.modules.sparse: Embedding EmbeddingBag
ao.nn.quantized.reference.modules
 = ao.nn.quantized.reference.modules.conv: Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d
 = ao.nn.quantized.reference.modules.conv: ConvTranspose3d
 = ao.nn.quantized.reference.modules.linear: Linear
 = ao.nn.quantized.reference.modules.rnn: GRU GRUCell LSTM LSTMCell RNNCell
 = ao.nn.quantized.reference.modules.sparse: Embedding EmbeddingBag
ao.nn.quantized.reference.modules.conv
 c Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d
ao.nn.quantized.reference.modules.linear
 c Linear
ao.nn.quantized.reference.modules.rnn
 f get_quantized_weight
 c GRU GRUCell LSTM LSTMCell RNNBase RNNCell RNNCellBase
ao.nn.quantized.reference.modules.sparse
 c Embedding EmbeddingBag
ao.nn.quantized.reference.modules.utils
 c ReferenceQuantizedModule
ao.nn.sparse
ao.nn.sparse.quantized
 = ao.nn.sparse.quantized.linear: Linear LinearPackedParams
ao.nn.sparse.quantized.dynamic
 = ao.nn.sparse.quantized.dynamic.linear: Linear
ao.nn.sparse.quantized.dynamic.linear
 c Linear
ao.nn.sparse.quantized.linear
 c Linear LinearPackedParams
ao.nn.sparse.quantized.utils
 c LinearBlockSparsePattern
ao.ns
ao.ns.fx
ao.ns.fx.graph_matcher
 f get_matching_subgraph_pairs
 c GraphMatchingException SubgraphTypeRelationship
ao.ns.fx.graph_passes
 f add_loggers_to_model create_a_shadows_b
ao.ns.fx.mappings
 f add_op_to_sets_of_related_ops get_base_name_for_op get_base_name_to_sets_of_related_ops
 f get_node_type_to_io_type_map get_unmatchable_types_map
ao.ns.fx.n_shadows_utils
 f create_add_loggers_graph create_n_transformed_and_logged_copies_of_subgraph
 f create_one_transformed_and_logged_copy_of_subgraph create_results_comparison create_submodule_from_subgraph
 f extract_weight_comparison group_results_by_subgraph print_n_shadows_summary
 c OutputProp
ao.ns.fx.ns_types
 c NSSingleResultValuesType NSSubgraph
ao.ns.fx.pattern_utils
 f end_node_matches_reversed_fusion get_reversed_fusions get_type_a_related_to_b
ao.ns.fx.qconfig_multi_mapping
 c QConfigMultiMapping
ao.ns.fx.utils
 f compute_cosine_similarity compute_normalized_l2_error compute_sqnr get_arg_indices_of_inputs_to_log
 f get_node_first_input_and_output_type get_node_input_qparams get_normalized_nth_input
 f get_number_of_non_param_args get_target_type_str maybe_add_missing_fqns
 f maybe_dequantize_first_two_tensor_args_and_handle_tuples op_type_supports_shadowing
 f rekey_logger_info_on_node_name_of_model return_first_non_observer_node
 c NodeInputOrOutputType
ao.ns.fx.weight_utils
 f extract_weight_from_node get_conv_fun_weight get_conv_mod_weight get_linear_fun_weight
 f get_linear_mod_weight get_lstm_mod_weights get_lstm_weight get_op_to_type_to_weight_extraction_fn
 f get_qconv_fun_weight get_qlinear_fun_weight get_qlstm_weight mod_0_weight_detach mod_weight_bias_0
 f mod_weight_detach
ao.pruning
 f get_dynamic_sparse_quantized_mapping get_static_sparse_quantized_mapping
 = ao.pruning.scheduler.base_scheduler: BaseScheduler
 = ao.pruning.scheduler.cubic_scheduler: CubicSL
 = ao.pruning.scheduler.lambda_scheduler: LambdaSL
 = ao.pruning.sparsifier.base_sparsifier: BaseSparsifier
 = ao.pruning.sparsifier.nearly_diagonal_sparsifier: NearlyDiagonalSparsifier
 = ao.pruning.sparsifier.utils: FakeSparsity fqn_to_module get_arg_info_from_tensor_fqn module_to_fqn
 = ao.pruning.sparsifier.weight_norm_sparsifier: WeightNormSparsifier
ao.pruning.scheduler
ao.pruning.scheduler.base_scheduler
 c BaseScheduler
ao.pruning.scheduler.cubic_scheduler
 c CubicSL
ao.pruning.scheduler.lambda_scheduler
 c LambdaSL
ao.pruning.sparsifier
ao.pruning.sparsifier.base_sparsifier
 c BaseSparsifier
ao.pruning.sparsifier.nearly_diagonal_sparsifier
 c NearlyDiagonalSparsifier
ao.pruning.sparsifier.utils
 f fqn_to_module get_arg_info_from_tensor_fqn module_contains_param module_to_fqn swap_module
 c FakeSparsity
ao.pruning.sparsifier.weight_norm_sparsifier
 c WeightNormSparsifier
ao.quantization.backend_config
 = ao.quantization.backend_config.backend_config: BackendConfig BackendPatternConfig DTypeConfig
 = ao.quantization.backend_config.backend_config: DTypeWithConstraints ObservationType
 = ao.quantization.backend_config.executorch: get_executorch_backend_config
 = ao.quantization.backend_config.fbgemm: get_fbgemm_backend_config
 = ao.quantization.backend_config.native: get_native_backend_config get_native_backend_config_dict
 = ao.quantization.backend_config.onednn: get_onednn_backend_config
 = ao.quantization.backend_config.qnnpack: get_qnnpack_backend_config
 = ao.quantization.backend_config.tensorrt: get_tensorrt_backend_config get_tensorrt_backend_config_dict
ao.quantization.backend_config.backend_config
 c BackendConfig BackendPatternConfig DTypeConfig DTypeWithConstraints ObservationType
ao.quantization.backend_config.executorch
 f get_executorch_backend_config
ao.quantization.backend_config.fbgemm
 f get_fbgemm_backend_config
ao.quantization.backend_config.native
 f get_native_backend_config get_native_backend_config_dict get_test_only_legacy_native_backend_config
 f get_test_only_legacy_native_backend_config_dict
ao.quantization.backend_config.onednn
 f get_onednn_backend_config
ao.quantization.backend_config.qnnpack
 f get_qnnpack_backend_config
ao.quantization.backend_config.tensorrt
 f get_tensorrt_backend_config get_tensorrt_backend_config_dict
ao.quantization.backend_config.utils
 f entry_to_pretty_str get_fused_module_classes get_fuser_method_mapping
 f get_fusion_pattern_to_extra_inputs_getter get_fusion_pattern_to_root_node_getter get_module_to_qat_module
 f get_pattern_to_dtype_configs get_pattern_to_input_type_to_index get_qat_module_classes
 f get_root_module_to_quantized_reference_module pattern_to_human_readable remove_boolean_dispatch_from_name
ao.quantization.backend_config.x86
 f get_x86_backend_config
ao.quantization.fake_quantize
 f default_affine_fixed_qparams_fake_quant default_dynamic_fake_quant default_embedding_fake_quant
 f default_embedding_fake_quant_4bit default_fake_quant default_fixed_qparams_range_0to1_fake_quant
 f default_fixed_qparams_range_neg1to1_fake_quant default_fused_act_fake_quant
 f default_fused_per_channel_wt_fake_quant default_fused_wt_fake_quant default_histogram_fake_quant
 f default_per_channel_weight_fake_quant default_symmetric_fixed_qparams_fake_quant default_weight_fake_quant
 f disable_fake_quant disable_observer enable_fake_quant enable_observer
 f fused_per_channel_wt_fake_quant_range_neg_127_to_127 fused_wt_fake_quant_range_neg_127_to_127
 c FakeQuantizeBase FixedQParamsFakeQuantize FusedMovingAvgObsFakeQuantize
 = ao.quantization: FakeQuantize
ao.quantization.fuse_modules
 f fuse_known_modules
 = ao.quantization: fuse_modules fuse_modules_qat
ao.quantization.fuser_method_mappings
 f fuse_conv_bn fuse_conv_bn_relu fuse_convtranspose_bn fuse_linear_bn get_fuser_method get_fuser_method_new
ao.quantization.fx
 = ao.quantization.fx.convert: convert
 = ao.quantization.fx.fuse: fuse
 = ao.quantization.fx.prepare: prepare
ao.quantization.fx.convert
 f convert convert_custom_module convert_standalone_module convert_weighted_module
ao.quantization.fx.custom_config
 c ConvertCustomConfig FuseCustomConfig PrepareCustomConfig StandaloneModuleConfigEntry
ao.quantization.fx.fuse
 f fuse
 = ao.quantization.fx.fuse_handler: FuseHandler
ao.quantization.fx.fuse_handler
 c DefaultFuseHandler FuseHandler
ao.quantization.fx.graph_module
 c FusedGraphModule ObservedGraphModule ObservedStandaloneGraphModule QuantizedGraphModule
ao.quantization.fx.lower_to_fbgemm
 f lower_to_fbgemm
ao.quantization.fx.lower_to_qnnpack
 f lower_to_qnnpack
ao.quantization.fx.lstm_utils
ao.quantization.fx.match_utils
ao.quantization.fx.pattern_utils
 f get_default_fusion_patterns get_default_output_activation_post_process_map get_default_quant_patterns
ao.quantization.fx.prepare
 f insert_observers_for_model prepare propagate_dtypes_for_known_nodes
ao.quantization.fx.qconfig_mapping_utils
ao.quantization.fx.quantize_handler
 c BatchNormQuantizeHandler BinaryOpQuantizeHandler CatQuantizeHandler ConvReluQuantizeHandler
 c CopyNodeQuantizeHandler CustomModuleQuantizeHandler DefaultNodeQuantizeHandler EmbeddingQuantizeHandler
 c FixedQParamsOpQuantizeHandler GeneralTensorShapeOpQuantizeHandler LinearReLUQuantizeHandler QuantizeHandler
 c RNNDynamicQuantizeHandler StandaloneModuleQuantizeHandler
ao.quantization.fx.tracer
 c QuantizationTracer ScopeContextManager
ao.quantization.fx.utils
 f all_node_args_except_first all_node_args_have_no_tensors assert_and_get_unique_device
 f collect_producer_nodes create_getattr_from_value create_node_from_old_node_preserve_meta
 f get_custom_module_class_keys get_linear_prepack_op_for_dtype get_new_attr_name_with_prefix
 f get_non_observable_arg_indexes_and_types get_qconv_prepack_op get_skipped_module_name_and_classes
 f graph_module_from_producer_nodes maybe_get_next_module node_arg_is_bias node_arg_is_weight return_arg_list
 c NodeInfo ObservedGraphModuleAttrs
ao.quantization.observer
 f default_affine_fixed_qparams_observer default_dynamic_quant_observer
 f default_fixed_qparams_range_0to1_observer default_fixed_qparams_range_neg1to1_observer
 f default_float_qparams_observer default_float_qparams_observer_4bit default_histogram_observer
 f default_observer default_per_channel_weight_observer default_symmetric_fixed_qparams_observer
 f default_weight_observer get_block_size get_observer_state_dict load_observer_state_dict
 f per_channel_weight_observer_range_neg_127_to_127 weight_observer_range_neg_127_to_127
 c AffineQuantizedObserverBase FixedQParamsObserver Granularity MappingType
 c MovingAveragePerChannelMinMaxObserver NoopObserver PerAxis PerBlock PerChannelMinMaxObserver PerGroup
 c PerRow PerTensor PerToken PlaceholderObserver RecordingObserver ReuseInputObserver TorchAODType
 c UniformQuantizationObserverBase ZeroPointDomain default_debug_observer default_placeholder_observer
 c default_reuse_input_observer
 = ao.quantization: HistogramObserver MinMaxObserver MovingAverageMinMaxObserver ObserverBase
ao.quantization.qconfig
 f QConfigAny get_default_qat_qconfig_dict get_default_qconfig_dict qconfig_equals
 c QConfigDynamic
 = ao.quantization: QConfig get_default_qat_qconfig get_default_qconfig
ao.quantization.qconfig_mapping
 = ao.quantization: QConfigMapping get_default_qat_qconfig_mapping get_default_qconfig_mapping
ao.quantization.quant_type
 = ao.quantization: QuantType
ao.quantization.quantization_mappings
 f get_default_compare_output_module_list get_default_dynamic_quant_module_mappings
 f get_default_dynamic_sparse_quant_module_mappings get_default_float_to_quantized_operator_mappings
 f get_default_qat_module_mappings get_default_qconfig_propagation_list
 f get_default_static_quant_module_mappings get_default_static_quant_reference_module_mappings
 f get_default_static_sparse_quant_module_mappings get_dynamic_quant_module_class
 f get_embedding_qat_module_mappings get_embedding_static_quant_module_mappings get_quantized_operator
 f get_static_quant_module_class no_observer_set
ao.quantization.quantize
 f get_default_custom_config_dict
 = ao.quantization: add_quant_dequant convert prepare prepare_qat propagate_qconfig_ quantize quantize_dynamic
 = ao.quantization: quantize_qat swap_module
ao.quantization.quantize_fx
 f attach_preserved_attrs_to_model convert_fx convert_to_reference_fx fuse_fx prepare_fx prepare_qat_fx
ao.quantization.quantize_jit
 f convert_dynamic_jit convert_jit fuse_conv_bn_jit prepare_dynamic_jit prepare_jit script_qconfig
 f script_qconfig_dict
 = ao.quantization: quantize_dynamic_jit quantize_jit
ao.quantization.stubs
 = ao.quantization: DeQuantStub QuantStub QuantWrapper
ao.quantization.utils
 f NodePattern Pattern activation_dtype activation_is_dynamically_quantized activation_is_int32_quantized
 f activation_is_int8_quantized activation_is_statically_quantized calculate_qmin_qmax check_min_max_valid
 f check_node determine_qparams get_combined_dict get_fqn_to_example_inputs get_qconfig_dtypes get_qparam_dict
 f get_quant_type get_swapped_custom_module_class getattr_from_fqn has_no_children_ignoring_parametrizations
 f is_per_channel is_per_tensor op_is_int8_dynamically_quantized to_underlying_dtype validate_qmin_qmax
 f weight_dtype weight_is_quantized weight_is_statically_quantized
 c MatchAllNode
autograd.profiler_legacy
 c profile
autograd.profiler_util
 c EventMetadata FormattedTimesMixin FunctionEventAvg Interval Kernel StringTable
 = autograd.profiler: EventList FunctionEvent MemRecordsAcc
backends.cudnn.rnn
backends.cusparselt
 f get_max_alg_id is_available version
backends.kleidiai
 f is_available
backends.miopen
backends.python_native
backends.xeon
backends.xeon.run_cpu
 f create_args main
backends.xnnpack
compiler.config
 v accumulated_recompile_limit=256 allow_unspec_int_on_nn_module=False assume_static_by_default=True
 v automatic_dynamic_shapes=True capture_dynamic_output_shape_ops=False capture_scalar_outputs=False
 v dynamic_shapes=True enable_cpp_symbolic_shape_guards=False fail_on_recompile_limit_hit=False
 v force_disable_caches=False job_id=None log_file_name=None recompile_limit=8
 v skip_tensor_guards_with_matching_dict_tags=True verbose=False wrap_top_frame=False
contrib
cuda.amp.common
 = cuda.amp: amp_definitely_not_available
cuda.gds
 f gds_deregister_buffer gds_register_buffer
 c GdsFile
cuda.green_contexts
 = cuda: GreenContext
cuda.jiterator
cuda.nccl
 f all_gather all_reduce broadcast init_rank is_available reduce reduce_scatter unique_id version
cuda.sparse
 c BFloat16Tensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor LongTensor ShortTensor
cuda.tunable
 f enable get_filename get_max_tuning_duration get_max_tuning_iterations get_results get_rotating_buffer_size
 f get_validators is_enabled mgpu_tune_gemm_in_file read_file record_untuned_enable record_untuned_is_enabled
 f set_filename set_max_tuning_duration set_max_tuning_iterations set_numerical_check_tolerances
 f set_rotating_buffer_size tune_gemm_in_file tuning_enable tuning_is_enabled
distributed.algorithms.ddp_comm_hooks.ddp_zero_hook
 f hook_with_zero_step hook_with_zero_step_interleaved
distributed.algorithms.ddp_comm_hooks.debugging_hooks
 f noop_hook
distributed.algorithms.ddp_comm_hooks.mixed_precision_hooks
distributed.algorithms.ddp_comm_hooks.optimizer_overlap_hooks
distributed.algorithms.ddp_comm_hooks.post_localSGD_hook
 f post_localSGD_hook
 c PostLocalSGDState
distributed.algorithms.ddp_comm_hooks.quantization_hooks
 f quantization_perchannel_hook quantization_pertensor_hook
distributed.algorithms.model_averaging.hierarchical_model_averager
 c HierarchicalModelAverager
distributed.algorithms.model_averaging.utils
 f average_parameters average_parameters_or_parameter_groups get_params_to_average
distributed.argparse_util
 c check_env env
distributed.autograd
 f is_available
 c context
distributed.c10d_logger
distributed.checkpoint.api
 c CheckpointException
distributed.checkpoint.filesystem
 c FileSystem FileSystemBase SerializationFormat
 = distributed.checkpoint: FileSystemReader FileSystemWriter
distributed.checkpoint.logger
distributed.checkpoint.logging_handlers
distributed.checkpoint.metadata
 c BytesStorageMetadata ChunkStorageMetadata Metadata MetadataIndex StorageMeta TensorProperties
 c TensorStorageMetadata
distributed.checkpoint.planner
 c BytesIOWriteData LoadItemType LoadPlan LoadPlanner ReadItem SavePlan SavePlanner TensorWriteData WriteItem
 c WriteItemType
distributed.checkpoint.planner_helpers
 f create_read_items_for_chunk_list
distributed.checkpoint.quantized_hf_storage
 c QuantizedHuggingFaceStorageReader
distributed.checkpoint.resharding
distributed.checkpoint.staging
 c AsyncStager BlockingAsyncStager DefaultStager StagingOptions
distributed.checkpoint.state_dict_saver
 c AsyncCheckpointerType AsyncSaveResponse
 = distributed.checkpoint: async_save save save_state_dict
distributed.checkpoint.stateful
 c Stateful
distributed.checkpoint.storage
 c WriteResult
 = distributed.checkpoint: StorageReader StorageWriter
distributed.checkpoint.utils
 f find_state_dict_object find_tensor_shard
distributed.collective_utils
 f all_gather all_gather_object_enforce_type broadcast
 c SyncPayload
distributed.config
 v compile_on_one_rank=False use_torchcomms=False
distributed.debug
 f get_rank start_debug_server stop_debug_server tcpstore_client
distributed.elastic.agent
distributed.elastic.agent.server
 = distributed.elastic.agent.server.api: ElasticAgent RunResult SimpleElasticAgent Worker WorkerGroup
 = distributed.elastic.agent.server.api: WorkerSpec WorkerState
distributed.elastic.agent.server.api
 c ElasticAgent RunResult SimpleElasticAgent Worker WorkerGroup WorkerSpec WorkerState
distributed.elastic.agent.server.health_check_server
 f create_healthcheck_server
 c HealthCheckServer
distributed.elastic.agent.server.local_elastic_agent
 c LocalElasticAgent
 v TORCHELASTIC_ENABLE_FILE_TIMER='TORCHELASTIC_ENABLE_FILE_TIMER'
 v TORCHELASTIC_HEALTH_CHECK_PORT='TORCHELASTIC_HEALTH_CHECK_PORT'
 v TORCHELASTIC_TIMER_FILE='TORCHELASTIC_TIMER_FILE'
 v TORCHELASTIC_UNINTERRUPTIBLE_STATE_TIMEOUT='TORCHELASTIC_UNINTERRUPTIBLE_STATE_TIMEOUT'
distributed.elastic.control_plane
 f worker_main
distributed.elastic.events
 f construct_and_record_rdzv_event record record_rdzv_event
 = distributed.elastic.events.api: Event EventSource NodeState RdzvEvent
 = distributed.elastic.events.handlers: get_logging_handler
distributed.elastic.events.api
 c Event EventSource NodeState RdzvEvent
distributed.elastic.events.handlers
 f get_logging_handler
distributed.elastic.metrics
 f initialize_metrics
 = distributed.elastic.metrics.api: ConsoleMetricHandler MetricData MetricHandler MetricsConfig
 = distributed.elastic.metrics.api: NullMetricHandler configure getStream get_elapsed_time_ms prof profile
 = distributed.elastic.metrics.api: publish_metric put_metric
distributed.elastic.metrics.api
 f configure getStream get_elapsed_time_ms prof profile publish_metric put_metric
 c ConsoleMetricHandler MetricData MetricHandler MetricStream MetricsConfig NullMetricHandler
distributed.elastic.multiprocessing.api
 f get_std_cm to_map
 c DefaultLogsSpecs LogsDest LogsSpecs MultiprocessContext PContext RunProcsResult SignalException Std
 c SubprocessContext
distributed.elastic.multiprocessing.errors.error_handler
 c ErrorHandler
distributed.elastic.multiprocessing.errors.handlers
 f get_error_handler
distributed.elastic.multiprocessing.redirects
 f get_libc redirect
distributed.elastic.multiprocessing.subprocess_handler
 = distributed.elastic.multiprocessing.subprocess_handler.handlers: get_subprocess_handler
 = distributed.elastic.multiprocessing.subprocess_handler.subprocess_handler: SubprocessHandler
distributed.elastic.multiprocessing.subprocess_handler.handlers
 f get_subprocess_handler
distributed.elastic.multiprocessing.subprocess_handler.subprocess_handler
 c SubprocessHandler
distributed.elastic.multiprocessing.tail_log
 f tail_logfile
 c TailLog
distributed.elastic.rendezvous
 f RendezvousHandlerCreator
 = distributed.elastic.rendezvous.api: RendezvousClosedError RendezvousConnectionError RendezvousError
 = distributed.elastic.rendezvous.api: RendezvousGracefulExitError RendezvousHandler RendezvousHandlerRegistry
 = distributed.elastic.rendezvous.api: RendezvousInfo RendezvousParameters RendezvousStateError
 = distributed.elastic.rendezvous.api: RendezvousStoreInfo RendezvousTimeoutError
distributed.elastic.rendezvous.api
 f RendezvousHandlerCreator
 c RendezvousClosedError RendezvousConnectionError RendezvousError RendezvousGracefulExitError
 c RendezvousHandler RendezvousHandlerRegistry RendezvousInfo RendezvousParameters RendezvousStateError
 c RendezvousStoreInfo RendezvousTimeoutError
distributed.elastic.rendezvous.c10d_rendezvous_backend
 f create_backend
 c C10dRendezvousBackend
distributed.elastic.rendezvous.dynamic_rendezvous
 f create_handler get_method_name
 c DynamicRendezvousHandler RendezvousBackend RendezvousSettings RendezvousTimeout
distributed.elastic.rendezvous.etcd_rendezvous
 f create_rdzv_handler
 c EtcdRendezvous EtcdRendezvousHandler EtcdRendezvousRetryImmediately EtcdRendezvousRetryableFailure
distributed.elastic.rendezvous.etcd_rendezvous_backend
 f create_backend
 c EtcdRendezvousBackend
distributed.elastic.rendezvous.etcd_server
 f find_free_port stop_etcd
 c EtcdServer
distributed.elastic.rendezvous.etcd_store
 f cas_delay
 c EtcdStore
distributed.elastic.rendezvous.registry
 f get_rendezvous_handler
distributed.elastic.rendezvous.static_tcp_rendezvous
 f create_rdzv_handler
 c StaticTCPRendezvous
distributed.elastic.rendezvous.utils
 f parse_rendezvous_endpoint
distributed.elastic.timer
 = distributed.elastic.timer.api: TimerClient TimerRequest TimerServer configure expires
 = distributed.elastic.timer.file_based_local_timer: FileTimerClient FileTimerRequest FileTimerServer
 = distributed.elastic.timer.local_timer: LocalTimerClient LocalTimerServer
distributed.elastic.timer.api
 f configure expires
 c RequestQueue TimerClient TimerRequest TimerServer
distributed.elastic.timer.debug_info_logging
 f log_debug_info_for_expired_timers
distributed.elastic.timer.file_based_local_timer
 c FileTimerClient FileTimerRequest FileTimerServer
distributed.elastic.timer.local_timer
 c LocalTimerClient LocalTimerServer MultiprocessingRequestQueue
distributed.elastic.utils
 = distributed.elastic.utils.api: get_env_variable_or_raise get_socket_with_port macros
distributed.elastic.utils.api
 f get_env_variable_or_raise get_socket_with_port
 c macros
distributed.elastic.utils.data
 = distributed.elastic.utils.data.cycling_iterator: CyclingIterator
 = distributed.elastic.utils.data.elastic_distributed_sampler: ElasticDistributedSampler
distributed.elastic.utils.data.cycling_iterator
 c CyclingIterator
distributed.elastic.utils.data.elastic_distributed_sampler
 c ElasticDistributedSampler
distributed.elastic.utils.distributed
 f create_c10d_store get_free_port get_socket_with_port
distributed.elastic.utils.log_level
 f get_log_level
distributed.elastic.utils.logging
 f get_logger
distributed.elastic.utils.process_state
 f is_uninterruptible_state read_proc_state
distributed.elastic.utils.store
 f barrier get_all store_timeout synchronize
distributed.flight_recorder
distributed.flight_recorder.components
distributed.flight_recorder.components.builder
 f build_collectives build_db build_groups_memberships tabulate transform_ft
distributed.flight_recorder.components.config_manager
 c JobConfig
distributed.flight_recorder.components.fr_logger
 c FlightRecorderLogger
distributed.flight_recorder.components.loader
 f read_dir read_dump
distributed.flight_recorder.components.types
 c Collective Database EntryState Group MatchInfo MatchState MatchStateRecord Membership NCCLCall Op Ref
 c Traceback TypeInfo
distributed.flight_recorder.components.utils
 f add_stack_id_in_entries align_trace_from_beginning check_current_entry_match check_no_missing_dump_files
 f check_size_alltoall check_version error_analysis find_coalesced_group find_coalesced_group_with_non_p2p
 f format_frame format_frames get_version_detail just_print_entries match_coalesced_groups
 f match_coalesced_groups_with_non_p2p match_one_event
distributed.flight_recorder.fr_trace
 f main
distributed.logging_handlers
distributed.nn.api
distributed.nn.api.remote_module
 c RemoteModule
distributed.nn.jit
distributed.nn.jit.instantiator
 f get_arg_return_types_from_interface instantiate_non_scriptable_remote_module_template
 f instantiate_scriptable_remote_module_template
distributed.nn.jit.templates
distributed.nn.jit.templates.remote_module_template
 f get_remote_module_template
distributed.optim.apply_optimizer_in_backward
distributed.optim.functional_adadelta
distributed.optim.functional_adagrad
distributed.optim.functional_adam
distributed.optim.functional_adamax
distributed.optim.functional_adamw
distributed.optim.functional_rmsprop
distributed.optim.functional_rprop
distributed.optim.functional_sgd
distributed.optim.named_optimizer
distributed.optim.optimizer
 = distributed.optim: DistributedOptimizer
distributed.optim.post_localSGD_optimizer
 = distributed.optim: PostLocalSGDOptimizer
distributed.optim.utils
 f as_functional_optim register_functional_optim
distributed.pipelining.microbatch
 f merge_chunks split_args_kwargs_into_chunks
 c TensorChunkSpec
distributed.remote_device
distributed.rendezvous
 = distributed: register_rendezvous_handler rendezvous
distributed.rpc
 f init_rpc is_available
 = distributed.rpc.api: AllGatherStates RRef get_worker_info method_factory new_method remote rpc_async
 = distributed.rpc.api: rpc_sync shutdown
 = distributed.rpc.backend_registry: BackendType
 = distributed.rpc.options: TensorPipeRpcBackendOptions
distributed.rpc.api
 f get_worker_info method_factory new_method remote rpc_async rpc_sync shutdown
 c AllGatherStates RRef
distributed.rpc.backend_registry
 f backend_registered construct_rpc_backend_options init_backend register_backend
 c BackendType BackendValue
distributed.rpc.constants
distributed.rpc.functions
 f async_execution
distributed.rpc.internal
 f deserialize serialize
 c PythonUDF RPCExecMode RemoteException
distributed.rpc.options
 c TensorPipeRpcBackendOptions
distributed.rpc.rref_proxy
 c RRefProxy
distributed.rpc.server_process_global_profiler
distributed.tensor.debug
 f visualize_sharding
 c CommDebugMode
distributed.tensor.device_mesh
 = distributed.tensor: DeviceMesh init_device_mesh
distributed.tensor.parallel.api
 = distributed.tensor.parallel: parallelize_module
distributed.tensor.parallel.ddp
distributed.tensor.parallel.fsdp
 c DTensorExtensions
distributed.tensor.parallel.input_reshard
 f input_reshard
distributed.tensor.parallel.loss
 = distributed.tensor.parallel: loss_parallel
distributed.tensor.parallel.style
 c PrepareModuleInputOutput
 = distributed.tensor.parallel: ColwiseParallel ParallelStyle PrepareModuleInput PrepareModuleOutput
 = distributed.tensor.parallel: RowwiseParallel SequenceParallel
export.custom_obj
 c ScriptObjectMeta
export.custom_ops
export.decomp_utils
 = export: CustomDecompTable
export.dynamic_shapes
 f refine_dynamic_shapes_from_suggested_fixes
 = export: AdditionalInputs Dim ShapesCollection dims
export.experimental
export.exported_program
 = export: ExportedProgram ModuleCallEntry ModuleCallSignature default_decompositions
export.graph_signature
 c ConstantArgument CustomObjArgument InputKind InputSpec OutputKind OutputSpec SymBoolArgument
 c SymFloatArgument SymIntArgument TensorArgument TokenArgument
 = export: ExportBackwardSignature ExportGraphSignature
export.passes
 f move_to_device_pass
export.pt2_archive
 f is_pt2_package
 c PT2ArchiveReader PT2ArchiveWriter
export.pt2_archive.constants
export.unflatten
 c InterpreterModule InterpreterModuleDispatcher
 = export: FlatArgsAdapter UnflattenedModule unflatten
fx.annotate
 f annotate
fx.config
fx.experimental.accelerator_partitioner
 f check_dependency combine_two_partitions get_bfs_level_partition get_device_partition_stats
 f get_device_to_partitions_mapping get_logical_id_to_device get_node_to_partition_mapping
 f reorganize_partitions reset_partition_device set_parents_and_children
 c DAG DAGNode PartitionResult Partitioner
fx.experimental.const_fold
 f get_unique_attr_name_in_module split_const_subgraphs
 c FoldedGraphModule
fx.experimental.debug
 f set_trace
fx.experimental.dynamic_spec
 c DictSpec IntVar ObjectSpec ParamsSpec SeqSpec ShapeVar ShapesSpec TensorSpec
 v STATIC=None
fx.experimental.graph_gradual_typechecker
 f adaptiveavgpool2d_check adaptiveavgpool2d_inference_rule add_inference_rule all_eq bn2d_inference_rule
 f broadcast_types calculate_out_dimension conv2d_inference_rule conv_refinement_rule conv_rule
 f element_wise_eq expand_to_tensor_dim first_two_eq flatten_check flatten_inference_rule
 f flatten_refinement_rule get_attr_inference_rule get_greatest_upper_bound get_parameter linear_check
 f linear_inference_rule linear_refinement_rule maxpool2d_check maxpool2d_inference_rule
 f register_algebraic_expressions_inference_rule register_inference_rule register_refinement_rule
 f relu_inference_rule reshape_inference_rule transpose_inference_rule
 c GraphTypeChecker Refine
fx.experimental.merge_matmul
 f are_nodes_independent may_depend_on merge_matmul split_result_tensors
fx.experimental.meta_tracer
 f embedding_override functional_relu_override gen_constructor_wrapper nn_layernorm_override proxys_to_metas
 f symbolic_trace torch_abs_override torch_nn_relu_override torch_relu_override torch_where_override
 c MetaAttribute MetaDeviceAttribute MetaProxy MetaTracer
fx.experimental.migrate_gradual_types
fx.experimental.migrate_gradual_types.constraint
 f is_algebraic_expression is_bool_expr is_dim
 c ApplyBroadcasting BVar BinConstraintD BinConstraintT BinaryConstraint CalcConv CalcMaxPool CalcProduct
 c CanReshape Conj Constraint DGreatestUpperBound DVar Disj F GetItem GetItemTensor IndexSelect Prod T
 c TGreatestUpperBound TVar Transpose
fx.experimental.migrate_gradual_types.constraint_generator
 f adaptive_inference_rule add_layer_norm_constraints add_linear_constraints arange_inference_rule
 f assert_inference_rule batchnorm_inference_rule bmm_inference_rule broadcasting_inference_rule
 f conv2d_inference_rule cumsum_inference_rule embedding_inference_rule embedding_inference_rule_functional
 f eq_inference_rule equality_inference_rule expand_inference_rule flatten_inference_rule full_inference_rule
 f gen_broadcasting_constraints gen_embedding_rules gen_layer_norm_constraints generate_flatten_constraints
 f get_attr_inference_rule getitem_inference_rule gt_inference_rule index_select_inference_rule
 f layer_norm_functional layer_norm_inference_rule linear_constraints linear_inference_rule lt_inference_rule
 f masked_fill_inference_rule maxpool_inference_rule neq_inference_rule range_check register_inference_rule
 f relu_inference_rule reshape_inference_rule size_inference_rule tensor_inference_rule
 f torch_dim_inference_rule torch_linear_inference_rule transpose_inference_rule type_inference_rule
 f view_inference_rule
 c ConstraintGenerator
fx.experimental.migrate_gradual_types.constraint_transformation
 f apply_padding broadcast_dim calc_last_two_dims create_equality_constraints_for_broadcasting
 f gen_all_reshape_possibilities gen_broadcasting_constraints gen_consistency_constraints
 f gen_greatest_upper_bound gen_lists_of_dims generate_all_broadcasting_possibilities_no_padding
 f generate_all_int_dyn_dim_possibilities generate_binconstraint_d generate_binconstraint_t
 f generate_broadcasting generate_calc_conv generate_calc_maxpool generate_calc_product generate_conj
 f generate_d_gub generate_disj generate_gub generate_reshape is_dim_div_by_target is_target_div_by_dim
 f no_broadcast_dim_with_index register_transformation_rule transform_constraint transform_get_item
 f transform_get_item_tensor transform_index_select transform_transpose valid_index valid_index_tensor
fx.experimental.migrate_gradual_types.operation
fx.experimental.migrate_gradual_types.transform_to_z3
fx.experimental.migrate_gradual_types.util
 f gen_bvar gen_dvar gen_nat_constraints gen_tensor_dims gen_tvar
fx.experimental.migrate_gradual_types.z3_types
fx.experimental.normalize
 c NormalizeArgs NormalizeOperators
fx.experimental.optimization
 f extract_subgraph fuse gen_mkl_autotuner matches_module_pattern modules_to_mkldnn optimize_for_inference
 f remove_dropout replace_node_module reset_modules use_mkl_length
 c MklSubgraph UnionFind
fx.experimental.partitioner_utils
 f get_comm_latency_between get_extra_size_of get_latency_of_one_partition get_latency_of_partitioned_graph
 f get_partition_to_latency_mapping
 c Device NodeLatency Partition PartitionLatency PartitionMode PartitionerConfig
fx.experimental.recording
 f record_shapeenv_event replay_shape_env_events shape_env_check_state_equal
 c FakeTensorMeta NotEqualError ShapeEnvEvent
fx.experimental.refinement_types
 c Equality
fx.experimental.rewriter
 c AST_Rewriter RewritingTracer
fx.experimental.schema_type_annotation
 c AnnotateTypesWithSchema
fx.experimental.sym_node
 f is_channels_last_contiguous_2d is_channels_last_contiguous_3d is_channels_last_strides_2d
 f is_channels_last_strides_3d is_contiguous is_non_overlapping_and_dense_indicator method_to_operator
 f sympy_is_channels_last_contiguous_2d sympy_is_channels_last_contiguous_3d sympy_is_channels_last_strides_2d
 f sympy_is_channels_last_strides_3d sympy_is_channels_last_strides_generic sympy_is_contiguous
 f sympy_is_contiguous_generic to_node wrap_node
 c DynamicInt SymNode
fx.experimental.unification
 f isvar unify
 = fx.experimental.unification.core: reify
 = fx.experimental.unification.more: unifiable
 = fx.experimental.unification.variable: Var var variables vars
fx.experimental.unification.core
 f reify unify
fx.experimental.unification.dispatch
fx.experimental.unification.match
 f edge match ordering supercedes
 c Dispatcher VarDispatcher
fx.experimental.unification.more
 f reify_object unifiable unify_object
fx.experimental.unification.multipledispatch
 = fx.experimental.unification.multipledispatch.core: dispatch
 = fx.experimental.unification.multipledispatch.dispatcher: Dispatcher MDNotImplementedError halt_ordering
 = fx.experimental.unification.multipledispatch.dispatcher: restart_ordering
fx.experimental.unification.multipledispatch.conflict
 f ambiguities ambiguous consistent edge ordering super_signature supercedes
 c AmbiguityWarning
fx.experimental.unification.multipledispatch.core
 f dispatch ismethod
fx.experimental.unification.multipledispatch.dispatcher
 f ambiguity_warn halt_ordering restart_ordering source str_signature variadic_signature_matches
 f variadic_signature_matches_iter warning_text
 c Dispatcher MDNotImplementedError MethodDispatcher
fx.experimental.unification.multipledispatch.utils
 f expand_tuples groupby raises reverse_dict typename
fx.experimental.unification.multipledispatch.variadic
 f isvariadic
 c Variadic VariadicSignatureMeta VariadicSignatureType
fx.experimental.unification.unification_tools
 f assoc assoc_in dissoc first get_in getter groupby itemfilter itemmap keyfilter keymap merge merge_with
 f update_in valfilter valmap
fx.experimental.unification.utils
 f freeze hashable raises reverse_dict transitive_get xfail
fx.experimental.unification.variable
 f var variables vars
 c Var
fx.experimental.unify_refinements
 f check_for_type_equality convert_eq infer_symbolic_types infer_symbolic_types_single_pass
 f substitute_all_types substitute_solution_one_type unify_eq
fx.experimental.validator
 f bisect translation_validation_enabled translation_validation_timeout
 c BisectValidationException ValidationException
fx.graph
 c CodeGen PythonCode
 = fx: Graph
fx.graph_module
 f reduce_graph_module reduce_package_graph_module
 = fx: GraphModule
fx.immutable_collections
 c immutable_dict immutable_list
fx.interpreter
 = fx: Interpreter Transformer
fx.operator_schemas
 f check_for_mutable_operation create_type_hint get_signature_for_torch_op normalize_function normalize_module
 f type_matches
 c ArgsKwargsPair
fx.passes.annotate_getitem_nodes
 f annotate_getitem_nodes
fx.passes.backends
fx.passes.backends.cudagraphs
 f partition_cudagraphs
 c CudaGraphsSupport
fx.passes.dialect
fx.passes.dialect.common
fx.passes.dialect.common.cse_pass
 f get_CSE_banned_ops
 c CSEPass
fx.passes.fake_tensor_prop
 c FakeTensorProp
fx.passes.graph_drawer
 c FxGraphDrawer
fx.passes.graph_manipulation
 f get_size_of_all_nodes get_size_of_node get_tensor_meta replace_target_nodes_with
 c size_bytes
fx.passes.graph_transform_observer
 c GraphTransformObserver
fx.passes.infra.partitioner
 c CapabilityBasedPartitioner Partition
fx.passes.infra.pass_manager
 f pass_result_wrapper this_before_that_pass_constraint
 c PassManager
fx.passes.net_min_base
 c FxNetMinimizerBadModuleError FxNetMinimizerResultMismatchError FxNetMinimizerRunFuncError
fx.passes.operator_support
 f any_chain chain create_op_support
 c OpSupports OperatorSupport OperatorSupportBase
fx.passes.param_fetch
 f default_matching extract_attrs_for_lowering lift_lowering_attrs_to_nodes
fx.passes.pass_manager
 f inplace_wrapper log_hook loop_pass these_before_those_pass_constraint this_before_that_pass_constraint
 c PassManager
fx.passes.regional_inductor
 f regional_inductor
fx.passes.regional_inductor_invoke_subgraph
 f regional_inductor_invoke_subgraph
fx.passes.reinplace
 f reinplace
fx.passes.runtime_assert
 f insert_deferred_runtime_asserts
fx.passes.shape_prop
 c ShapeProp TensorMetadata
fx.passes.split_module
 f split_module split_module_simple
 c Partition
fx.passes.split_utils
 f getattr_recursive move_non_tensor_nodes_on_boundary setattr_recursive split_by_tags
 c Component
fx.passes.splitter_base
 f generate_inputs_for_submodules
 c FxNetAccNodesFinder FxNetSplitterInternalError NodeEvent NodeEventTracker SplitResult Subgraph
fx.passes.tests
fx.passes.tests.test_pass_manager
 c TestPassManager
fx.passes.tools_common
 f get_acc_ops_name get_node_target is_node_output_tensor legalize_graph stable_topological_sort
 c FxNetAccFusionsFinder
fx.passes.utils
 = fx.passes.utils.common: HolderModule compare_graphs lift_subgraph_as_module
fx.passes.utils.common
 f compare_graphs lift_subgraph_as_module
 c HolderModule
fx.passes.utils.fuser_utils
 f erase_nodes fuse_as_graphmodule fuse_by_partitions insert_subgm topo_sort validate_partition
fx.passes.utils.matcher_utils
 c InternalMatch SubgraphMatcher
fx.passes.utils.matcher_with_name_node_map_utils
 c SubgraphMatcherWithNameNodeMap
fx.passes.utils.source_matcher_utils
 f check_subgraphs_connected get_source_partitions
 c SourcePartition
fx.subgraph_rewriter
 f replace_pattern_with_filters
 c Match ReplacedPatterns
 = fx: replace_pattern
fx.tensor_type
 f is_consistent is_more_precise
 c TensorType
fx.traceback
 f annotate annotate_fn format_stack get_current_meta get_current_replay_node get_graph_provenance_json
 f has_preserved_node_meta preserve_node_meta reset_grad_fn_seq_nr set_current_meta set_current_replay_node
 f set_grad_fn_seq_nr set_stack_trace
 c NodeSource NodeSourceAction
jit.frontend
 f build_class_def build_def build_expr build_ignore_context_manager build_param build_param_list build_stmt
 f build_stmts build_withitem build_withitems find_before get_class_assigns get_class_properties
 f get_default_args get_default_args_for_class get_jit_class_def get_jit_def is_reserved_name
 f is_torch_jit_ignore_context_manager
 c Builder ExprBuilder FrontendError FrontendTypeError NotSupportedError StmtBuilder UnsupportedNodeError
 c WithItemBuilder
jit.generate_bytecode
 f format_bytecode generate_upgraders_bytecode
jit.mobile
 c LiteScriptModule
jit.quantized
 f quantize_linear_modules quantize_rnn_cell_modules quantize_rnn_modules
 c QuantizedGRU QuantizedGRUCell QuantizedLSTM QuantizedLSTMCell QuantizedLinear QuantizedLinearFP16
 c QuantizedRNNBase QuantizedRNNCell QuantizedRNNCellBase
jit.supported_ops
jit.unsupported_tensor_ops
 f execWrapper
masked.maskedtensor
 = masked: MaskedTensor is_masked_tensor
masked.maskedtensor.binary
masked.maskedtensor.core
 = masked: MaskedTensor is_masked_tensor
masked.maskedtensor.creation
 = masked: as_masked_tensor masked_tensor
masked.maskedtensor.passthrough
masked.maskedtensor.reductions
masked.maskedtensor.unary
mps.event
 = mps: Event
mps.profiler
 f is_capturing_metal is_metal_capture_enabled metal_capture profile start stop
mtia.memory
 f max_memory_allocated memory_stats reset_peak_memory_stats
 = mtia: memory_allocated
mtia.mtia_graph
 f graph_pool_handle
 c MTIAGraph graph
nativert
nativert.backends
nn.attention.experimental
nn.attention.varlen
 f varlen_attn varlen_attn_out
 c AuxRequest
nn.backends
nn.backends.thnn
nn.cpp
 c ModuleWrapper OrderedDictWrapper
nn.intrinsic
 = ao.nn.intrinsic.modules.fused: BNReLU2d BNReLU3d ConvBn1d ConvBn2d ConvBn3d ConvBnReLU1d ConvBnReLU2d
 = ao.nn.intrinsic.modules.fused: ConvBnReLU3d ConvReLU1d ConvReLU2d ConvReLU3d LinearBn1d LinearReLU
nn.intrinsic.modules
 = ao.nn.intrinsic.modules.fused: BNReLU2d BNReLU3d ConvBn1d ConvBn2d ConvBn3d ConvBnReLU1d ConvBnReLU2d
 = ao.nn.intrinsic.modules.fused: ConvBnReLU3d ConvReLU1d ConvReLU2d ConvReLU3d LinearBn1d LinearReLU
nn.intrinsic.modules.fused
 = ao.nn.intrinsic.modules.fused: BNReLU2d BNReLU3d ConvBn1d ConvBn2d ConvBn3d ConvBnReLU1d ConvBnReLU2d
 = ao.nn.intrinsic.modules.fused: ConvBnReLU3d ConvReLU1d ConvReLU2d ConvReLU3d LinearBn1d LinearReLU
nn.intrinsic.qat
nn.intrinsic.qat.modules
 = ao.nn.intrinsic.qat.modules.conv_fused: ConvBn1d ConvBn2d ConvBn3d ConvBnReLU1d ConvBnReLU2d ConvBnReLU3d
 = ao.nn.intrinsic.qat.modules.conv_fused: ConvReLU1d ConvReLU2d ConvReLU3d freeze_bn_stats update_bn_stats
 = ao.nn.intrinsic.qat.modules.linear_fused: LinearBn1d
 = ao.nn.intrinsic.qat.modules.linear_relu: LinearReLU
nn.intrinsic.qat.modules.conv_fused
 = ao.nn.intrinsic.qat.modules.conv_fused: ConvBn1d ConvBn2d ConvBn3d ConvBnReLU1d ConvBnReLU2d ConvBnReLU3d
 = ao.nn.intrinsic.qat.modules.conv_fused: ConvReLU1d ConvReLU2d ConvReLU3d freeze_bn_stats update_bn_stats
nn.intrinsic.qat.modules.linear_fused
 = ao.nn.intrinsic.qat.modules.linear_fused: LinearBn1d
nn.intrinsic.qat.modules.linear_relu
 = ao.nn.intrinsic.qat.modules.linear_relu: LinearReLU
nn.intrinsic.quantized
 = ao.nn.intrinsic.quantized.modules.bn_relu: BNReLU2d BNReLU3d
 = ao.nn.intrinsic.quantized.modules.conv_relu: ConvReLU1d ConvReLU2d ConvReLU3d
 = ao.nn.intrinsic.quantized.modules.linear_relu: LinearReLU
nn.intrinsic.quantized.dynamic
nn.intrinsic.quantized.dynamic.modules
 = ao.nn.intrinsic.quantized.dynamic.modules.linear_relu: LinearReLU
nn.intrinsic.quantized.dynamic.modules.linear_relu
 = ao.nn.intrinsic.quantized.dynamic.modules.linear_relu: LinearReLU
nn.intrinsic.quantized.modules
 = ao.nn.intrinsic.quantized.modules.bn_relu: BNReLU2d BNReLU3d
 = ao.nn.intrinsic.quantized.modules.conv_relu: ConvReLU1d ConvReLU2d ConvReLU3d
 = ao.nn.intrinsic.quantized.modules.linear_relu: LinearReLU
nn.intrinsic.quantized.modules.bn_relu
 = ao.nn.intrinsic.quantized.modules.bn_relu: BNReLU2d BNReLU3d
nn.intrinsic.quantized.modules.conv_relu
 = ao.nn.intrinsic.quantized.modules.conv_relu: ConvReLU1d ConvReLU2d ConvReLU3d
nn.intrinsic.quantized.modules.linear_relu
 = ao.nn.intrinsic.quantized.modules.linear_relu: LinearReLU
nn.modules.linear_cross_entropy
nn.modules.linear_cross_entropy_options
 = nn.modules: LinearCrossEntropyOptions
nn.qat
 = ao.nn.qat.modules.conv: Conv1d Conv2d Conv3d
 = ao.nn.qat.modules.embedding_ops: Embedding EmbeddingBag
 = ao.nn.qat.modules.linear: Linear
nn.qat.dynamic
nn.qat.dynamic.modules
 = ao.nn.qat.dynamic.modules.linear: Linear
nn.qat.dynamic.modules.linear
nn.qat.modules
 = ao.nn.qat.modules.conv: Conv1d Conv2d Conv3d
 = ao.nn.qat.modules.embedding_ops: Embedding EmbeddingBag
 = ao.nn.qat.modules.linear: Linear
nn.qat.modules.conv
nn.qat.modules.embedding_ops
 = ao.nn.qat.modules.embedding_ops: Embedding EmbeddingBag
nn.qat.modules.linear
nn.quantizable
nn.quantizable.modules
 = ao.nn.quantizable.modules.activation: MultiheadAttention
 = ao.nn.quantizable.modules.rnn: LSTM LSTMCell
nn.quantizable.modules.activation
nn.quantizable.modules.rnn
nn.quantized
 = ao.nn.quantized.modules: DeQuantize Quantize
 = ao.nn.quantized.modules.activation: ELU Hardswish LeakyReLU MultiheadAttention PReLU ReLU6 Sigmoid Softmax
 = ao.nn.quantized.modules.batchnorm: BatchNorm2d BatchNorm3d
 = ao.nn.quantized.modules.conv: Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d
 = ao.nn.quantized.modules.dropout: Dropout
 = ao.nn.quantized.modules.embedding_ops: Embedding EmbeddingBag
 = ao.nn.quantized.modules.functional_modules: FXFloatFunctional FloatFunctional QFunctional
 = ao.nn.quantized.modules.linear: Linear
 = ao.nn.quantized.modules.normalization: GroupNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d LayerNorm
 = ao.nn.quantized.modules.rnn: LSTM
nn.quantized.dynamic
nn.quantized.dynamic.modules
 = ao.nn.quantized.dynamic.modules.conv: Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d
 = ao.nn.quantized.dynamic.modules.linear: Linear
 = ao.nn.quantized.dynamic.modules.rnn: GRU GRUCell LSTM LSTMCell RNNCell
nn.quantized.dynamic.modules.conv
 = ao.nn.quantized.dynamic.modules.conv: Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d
nn.quantized.dynamic.modules.linear
nn.quantized.dynamic.modules.rnn
 = ao.nn.quantized.dynamic.modules.rnn: GRU GRUCell LSTM LSTMCell PackedParameter RNNBase RNNCell RNNCellBase
 = ao.nn.quantized.dynamic.modules.rnn: pack_weight_bias
nn.quantized.functional
nn.quantized.modules
 = ao.nn.quantized.modules: DeQuantize Quantize
 = ao.nn.quantized.modules.activation: ELU Hardswish LeakyReLU MultiheadAttention PReLU ReLU6 Sigmoid Softmax
 = ao.nn.quantized.modules.batchnorm: BatchNorm2d BatchNorm3d
 = ao.nn.quantized.modules.conv: Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d
 = ao.nn.quantized.modules.dropout: Dropout
 = ao.nn.quantized.modules.embedding_ops: Embedding EmbeddingBag
 = ao.nn.quantized.modules.functional_modules: FXFloatFunctional FloatFunctional QFunctional
 = ao.nn.quantized.modules.linear: Linear
 = ao.nn.quantized.modules.normalization: GroupNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d LayerNorm
 = ao.nn.quantized.modules.rnn: LSTM
nn.quantized.modules.activation
nn.quantized.modules.batchnorm
nn.quantized.modules.conv
 = ao.nn.quantized.modules.conv: Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d
nn.quantized.modules.dropout
 = ao.nn.quantized.modules.dropout: Dropout
nn.quantized.modules.embedding_ops
 = ao.nn.quantized.modules.embedding_ops: Embedding EmbeddingBag EmbeddingPackedParams
nn.quantized.modules.functional_modules
 = ao.nn.quantized.modules.functional_modules: FXFloatFunctional FloatFunctional QFunctional
nn.quantized.modules.linear
 = ao.nn.quantized.modules.linear: Linear LinearPackedParams
nn.quantized.modules.normalization
 = ao.nn.quantized.modules.normalization: GroupNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d LayerNorm
nn.quantized.modules.rnn
nn.quantized.modules.utils
onnx.errors
 c OnnxExporterWarning SymbolicValueError UnsupportedOperatorError
onnx.operators
onnx.ops
 f aten_decompositions attention rotary_embedding symbolic symbolic_multi_out
onnx.symbolic_helper
onnx.symbolic_opset10
onnx.symbolic_opset11
onnx.symbolic_opset12
onnx.symbolic_opset13
onnx.symbolic_opset14
onnx.symbolic_opset15
onnx.symbolic_opset16
onnx.symbolic_opset17
onnx.symbolic_opset18
onnx.symbolic_opset19
onnx.symbolic_opset20
onnx.symbolic_opset7
onnx.symbolic_opset8
onnx.symbolic_opset9
onnx.testing
 f assert_onnx_program
onnx.utils
onnx.verification
 f verify_onnx_program
 c VerificationInfo
package
 = package.analyze.is_from_package: is_from_package
 = package.file_structure_representation: Directory
 = package.glob_group: GlobGroup
 = package.importer: Importer ObjMismatchError ObjNotFoundError OrderedImporter
 = package.package_exporter: EmptyMatchError PackageExporter PackagingError
 = package.package_importer: PackageImporter
package.analyze
 = package.analyze.find_first_use_of_broken_modules: find_first_use_of_broken_modules
 = package.analyze.trace_dependencies: trace_dependencies
package.analyze.find_first_use_of_broken_modules
 f find_first_use_of_broken_modules
package.analyze.is_from_package
 f is_from_package
package.analyze.trace_dependencies
 f trace_dependencies
package.file_structure_representation
 c Directory
package.find_file_dependencies
 f find_files_source_depends_on
package.glob_group
 c GlobGroup
package.importer
 c Importer ObjMismatchError ObjNotFoundError OrderedImporter
package.package_exporter
 c EmptyMatchError PackageExporter PackagingError PackagingErrorReason
package.package_importer
 c PackageImporter
profiler.itt
 f is_available mark range range_pop range_push
profiler.profiler
 = profiler: ExecutionTraceObserver ProfilerAction profile schedule supported_activities
 = profiler: tensorboard_trace_handler
profiler.python_tracer
quantization.fake_quantize
quantization.fuse_modules
quantization.fuser_method_mappings
quantization.fx
quantization.fx.convert
quantization.fx.fuse
quantization.fx.fusion_patterns
quantization.fx.graph_module
quantization.fx.match_utils
quantization.fx.pattern_utils
quantization.fx.prepare
quantization.fx.quantization_patterns
quantization.fx.quantization_types
quantization.fx.utils
quantization.observer
quantization.qconfig
quantization.quant_type
quantization.quantization_mappings
quantization.quantize
quantization.quantize_fx
quantization.quantize_jit
quantization.stubs
quantization.utils
quasirandom
 c SobolEngine
signal.windows.windows
 = signal.windows: bartlett blackman cosine exponential gaussian general_cosine general_hamming hamming hann
 = signal.windows: kaiser nuttall
sparse.semi_structured
 = sparse: SparseSemiStructuredTensor SparseSemiStructuredTensorCUSPARSELT SparseSemiStructuredTensorCUTLASS
 = sparse: to_sparse_semi_structured
utils.backcompat
 c Warning
utils.backend_registration
 = utils: generate_methods_for_privateuse1_backend rename_privateuse1_backend
utils.benchmark.examples
utils.benchmark.examples.compare
 f main
 c FauxTorch
utils.benchmark.examples.fuzzer
 f main
utils.benchmark.examples.op_benchmark
 f assert_dicts_equal main run
utils.benchmark.examples.simple_timeit
 f main
utils.benchmark.examples.spectral_ops_fuzz_test
 f run_benchmark
 c Benchmark
utils.benchmark.op_fuzzers
utils.benchmark.op_fuzzers.binary
 c BinaryOpFuzzer
utils.benchmark.op_fuzzers.sparse_binary
 c BinaryOpSparseFuzzer
utils.benchmark.op_fuzzers.sparse_unary
 c UnaryOpSparseFuzzer
utils.benchmark.op_fuzzers.spectral
 f power_range
 c SpectralOpFuzzer
utils.benchmark.op_fuzzers.unary
 c UnaryOpFuzzer
utils.benchmark.utils
utils.benchmark.utils.common
 f ordered_unique set_torch_threads trim_sigfig unit_to_english
 c TaskSpec
 = utils.benchmark: Measurement select_unit
utils.benchmark.utils.compare
 f optional_min
 c Colorize Compare Table
utils.benchmark.utils.compile
utils.benchmark.utils.cpp_jit
 f compile_callgrind_template compile_timeit_template get_compat_bindings
utils.benchmark.utils.fuzzer
 f dtype_size prod
 c FuzzedParameter FuzzedTensor Fuzzer ParameterAlias
utils.benchmark.utils.sparse_fuzzer
 c FuzzedSparseTensor
utils.benchmark.utils.timer
 c CPPTimer Language
 = utils.benchmark: Timer timer
utils.benchmark.utils.valgrind_wrapper
utils.benchmark.utils.valgrind_wrapper.timer_interface
 f wrapper_singleton
 c CallgrindStats CopyIfCallgrind FunctionCount FunctionCounts GlobalsBridge Serialization
utils.bundled_inputs
 f augment_many_model_functions_with_bundled_inputs augment_model_with_bundled_inputs bundle_inputs
 f bundle_large_tensor bundle_randn
 c InflatableArg
utils.cpp_backtrace
 = utils: get_cpp_backtrace
utils.data.backward_compatibility
 f worker_init_fn
utils.data.datapipes.dataframe
 = utils.data: DFIterDataPipe
 = utils.data.datapipes.dataframe.dataframes: CaptureDataFrame
 = utils.data.datapipes.dataframe.datapipes: DataFramesAsTuplesPipe
utils.data.datapipes.dataframe.dataframe_wrapper
 f concat create_dataframe get_columns get_df_wrapper get_item get_len is_column is_dataframe iterate
 f set_df_wrapper
 c PandasWrapper default_wrapper
utils.data.datapipes.dataframe.dataframes
 f disable_capture get_val
 c Capture CaptureA CaptureAdd CaptureCall CaptureControl CaptureDataFrame CaptureDataFrameWithDataPipeOps
 c CaptureF CaptureGetAttr CaptureGetItem CaptureInitial CaptureLikeMock CaptureMul CaptureSetItem CaptureSub
 c CaptureVariable CaptureVariableAssign DataFrameTracedOps DataFrameTracer
utils.data.datapipes.dataframe.datapipes
 c ConcatDataFramesPipe DataFramesAsTuplesPipe ExampleAggregateAsDataFrames FilterDataFramesPipe
 c PerRowDataFramesPipe ShuffleDataFramesPipe
utils.data.datapipes.dataframe.structures
 c DataChunkDF
utils.data.datapipes.datapipe
 = utils.data: DFIterDataPipe DataChunk IterDataPipe MapDataPipe
utils.data.datapipes.gen_pyi
 f extract_class_name extract_method_name find_file_paths gen_from_template get_method_definitions main
 f materialize_lines parse_datapipe_file parse_datapipe_files process_signature split_outside_bracket
utils.data.datapipes.iter.callable
 c CollatorIterDataPipe MapperIterDataPipe
utils.data.datapipes.iter.combining
 c ConcaterIterDataPipe DemultiplexerIterDataPipe ForkerIterDataPipe MultiplexerIterDataPipe
 c ZipperIterDataPipe
utils.data.datapipes.iter.filelister
 c FileListerIterDataPipe
utils.data.datapipes.iter.fileopener
 c FileOpenerIterDataPipe
utils.data.datapipes.iter.grouping
 c BatcherIterDataPipe GrouperIterDataPipe UnBatcherIterDataPipe
utils.data.datapipes.iter.routeddecoder
 c RoutedDecoderIterDataPipe
utils.data.datapipes.iter.selecting
 c FilterIterDataPipe
utils.data.datapipes.iter.sharding
 c SHARDING_PRIORITIES ShardingFilterIterDataPipe
utils.data.datapipes.iter.streamreader
 c StreamReaderIterDataPipe
utils.data.datapipes.iter.utils
 c IterableWrapperIterDataPipe
utils.data.datapipes.map
 c Batcher Concater Mapper SequenceWrapper Shuffler Zipper
utils.data.datapipes.map.callable
 f default_fn
 c MapperMapDataPipe
utils.data.datapipes.map.combinatorics
 c ShufflerIterDataPipe
utils.data.datapipes.map.combining
 c ConcaterMapDataPipe ZipperMapDataPipe
utils.data.datapipes.map.grouping
 c BatcherMapDataPipe
utils.data.datapipes.map.utils
 c SequenceWrapperMapDataPipe
utils.data.datapipes.utils
utils.data.datapipes.utils.common
 f get_file_binaries_from_pathnames get_file_pathnames_from_root match_masks validate_input_col
 f validate_pathname_binary_tuple
 c StreamWrapper
utils.data.datapipes.utils.decoder
 f audiohandler basichandlers extension_extract_fn handle_extension imagehandler mathandler videohandler
 c Decoder ImageHandler MatHandler
utils.data.datapipes.utils.snapshot
utils.data.graph
 f traverse traverse_dps
utils.data.graph_settings
 f apply_random_seed apply_sharding apply_shuffle_seed apply_shuffle_settings get_all_graph_pipes
utils.debug_log
 f debug_grad_log
utils.file_baton
 c FileBaton
utils.hipify
utils.hipify.constants
utils.hipify.cuda_to_hip_mappings
utils.hipify.hipify_python
 f add_dim3 compute_stats extract_arguments file_add_header file_specific_replacement find_bracket_group
 f find_closure_group find_parentheses_group fix_static_global_kernels get_hip_file_path hip_header_magic
 f hipify is_caffe2_gpu_file is_cusparse_file is_out_of_place is_pytorch_file is_special_file match_extensions
 f matched_files_iter openf preprocess_file_and_save_result preprocessor processKernelLaunches
 f replace_extern_shared replace_math_functions str2bool
 c CurrentState GeneratedFileCleaner HipifyResult InputError Trie TrieNode bcolors
utils.hipify.version
utils.jit
utils.jit.log_extract
 f extract_ir load_graph_and_inputs make_tensor_from_type no_fuser run_baseline_no_fusion run_nnc run_nvfuser
 f run_test time_cpu time_cuda
utils.mkldnn
 f to_mkldnn
 c MkldnnBatchNorm MkldnnConv1d MkldnnConv2d MkldnnConv3d MkldnnLinear MkldnnPrelu
utils.mobile_optimizer
 f generate_mobile_module_lints optimize_for_mobile
 c LintCode
utils.model_dump
 f burn_in_info get_info_and_burn_skeleton get_inline_skeleton get_model_info get_storage_info
 f hierarchical_pickle main
utils.module_tracker
 c ModuleTracker
utils.serialization
utils.serialization.config
utils.show_pickle
 f main
 c DumpUnpickler FakeClass FakeObject
utils.throughput_benchmark
 f format_time
 c ExecutionStats
 = utils: ThroughputBenchmark
utils.viz
xpu.graphs
 f graph_pool_handle make_graphed_callables
 c XPUGraph graph
 = xpu: is_current_stream_capturing
xpu.memory
 f change_current_allocator get_per_process_memory_fraction max_memory_reserved memory_snapshot memory_stats
 f memory_stats_as_nested_dict reset_accumulated_memory_stats set_per_process_memory_fraction use_mem_pool
 c MemPool XPUPluggableAllocator
 = xpu: empty_cache max_memory_allocated mem_get_info memory_allocated memory_reserved reset_peak_memory_stats
xpu.random
 f initial_seed seed seed_all
 = xpu: get_rng_state get_rng_state_all manual_seed manual_seed_all set_rng_state set_rng_state_all
xpu.streams
 = xpu: Event Stream
"""


class Contents(NamedTuple):
    """What one module has."""

    functions: list[str]
    classes: list[str]
    values: dict[str, Any]
    same: dict[str, str]


@cache
def rows() -> dict[str, list[str]]:
    """The lines of each module, by its name."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in TABLE.splitlines():
        if line.startswith(" "):
            lines.append(line)
        elif line:
            lines = found.setdefault(line, [])
    return found


def contents(module: str) -> Contents:
    """What the table has of a module; nothing of one that it has not.

    Args:
        module: its name without `vistorch.`.
    """
    found = Contents([], [], {}, {})
    for line in rows().get(module, ()):
        kind, *words = line.split()
        if kind == "f":
            found.functions.extend(words)
        elif kind == "c":
            found.classes.extend(words)
        elif kind == "v":
            for name, _, value in (word.partition("=") for word in words):
                found.values[name] = ast.literal_eval(value)
        else:
            home = words[0].removesuffix(":").removeprefix("torch")
            found.same.update({name: f"{home}:{name}" if home else name for name in words[1:]})
    return found


def why(module: str) -> str:
    """What to use instead of what a module has.

    Args:
        module: its name without `vistorch.`.
    """
    parts = module.split(".")
    starts = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((WHY[start] for start in starts if start in WHY), "no program needs it here.")


def docs() -> dict[str, str]:
    """The modules of the table, each with a sentence."""
    return {name: f"Named, not built: {why(name)}" for name in rows()}
