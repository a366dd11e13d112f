"""Functions of PyTorch that programs call by `torch.`, and that vistorch has only by name.

Invariant: importing them is allowed; using one says so in one sentence.
"""

from .compat.said import unbuilt

SPARSE = """
    dsmm hsmm hspmm resize_as_sparse_ saddmm smm sparse_bsc_tensor sparse_bsr_tensor sparse_compressed_tensor
    sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor spmm sspaddmm
"""
QUANTIZED = """
    choose_qparams_optimized empty_quantized fake_quantize_per_channel_affine fake_quantize_per_tensor_affine
    fused_moving_avg_obs_fake_quant int_repr q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale
    q_zero_point quantize_per_channel quantize_per_tensor quantize_per_tensor_dynamic quantized_batch_norm
    quantized_gru quantized_gru_cell quantized_lstm quantized_lstm_cell quantized_max_pool1d quantized_max_pool2d
    quantized_max_pool3d quantized_rnn_relu_cell quantized_rnn_tanh_cell
"""
COMPILED = "cond while_loop import_ir_module import_ir_module_from_buffer parse_ir parse_schema"
NAMES = {
    **dict.fromkeys(SPARSE.split(), "vistorch's tensors are dense."),
    **dict.fromkeys(
        QUANTIZED.split(),
        "vistorch has no quantized tensors; train and run in float32, float16 or bfloat16.",
    ),
    **dict.fromkeys(
        COMPILED.split(), "vistorch has no compiler and no TorchScript; write it in plain Python."
    ),
    "hash_tensor": "vistorch has no unsigned integers of 64 bits.",
    "lobpcg": "use linalg.eigh, and take the first or last of what it gives.",
    "segment_reduce": "use scatter_reduce, with the number of each element's segment.",
}
for _name, _why in NAMES.items():
    globals().update(unbuilt("vistorch", _why, _name))
