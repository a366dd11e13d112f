"""Which functions run in which type inside an autocast region: PyTorch's lists, by name.

A name is looked for among the functions of `vistorch`, the methods of Tensor, `nn.functional`, `linalg` and `fft`;
wherever it is found, it is one function or several, and all get the rule. Invariant: a function not named here takes
what it is given.
"""

from __future__ import annotations

# Products: in the type of the region.
LOWER_BOTH = """
    addbmm addmm baddbmm bmm mm matmul __matmul__ __rmatmul__ linear linalg.vecdot prelu affine_grid
    affine_grid_generator conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d conv_tbc
    scaled_dot_product_attention
    rnn_tanh_cell rnn_relu_cell rnn_tanh rnn_relu lstm
"""
LOWER_CUDA = "addmv addr chain_matmul einsum linalg.multi_dot mv convolution lstm_cell gru_cell gru"

# In float32, whatever is given.
FULL_CPU = """
    avg_pool3d max_pool3d max_unpool2d max_unpool3d adaptive_avg_pool3d
    adaptive_max_pool3d adaptive_max_pool3d_with_indices max_unpool1d fractional_max_pool2d fractional_max_pool3d
    fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices
    binary_cross_entropy binary_cross_entropy_with_logits grid_sample grid_sampler grid_sampler_2d grid_sampler_3d
    polar prod quantile nanquantile
    stft cdist trace view_as_complex cholesky cholesky_inverse cholesky_solve inverse lu lu_solve orgqr ormqr
    pinverse
    mse_loss cosine_embedding_loss nll_loss hinge_embedding_loss poisson_nll_loss smooth_l1_loss cross_entropy
    l1_loss huber_loss margin_ranking_loss soft_margin_loss triplet_margin_loss multi_margin_loss ctc_loss kl_div
    multilabel_margin_loss
    fft.fft fft.ifft fft.fft2 fft.ifft2 fft.fftn fft.ifftn fft.rfft fft.irfft fft.rfft2 fft.irfft2 fft.rfftn
    fft.irfftn fft.hfft fft.ihfft
    linalg.cond linalg.matrix_rank linalg.solve linalg.cholesky linalg.svdvals linalg.eigvals linalg.eigvalsh
    linalg.inv linalg.householder_product linalg.tensorinv linalg.tensorsolve linalg.qr linalg.cholesky_ex
    linalg.svd linalg.eig linalg.eigh linalg.lstsq linalg.inv_ex geqrf qr svd triangular_solve
"""
FULL_CUDA = """
    __pow__ __rpow__ __rtruediv__ acos arccos asin arcsin cosh tan sinh erfinv exp expm1
    log log10 log2 log1p reciprocal rsqrt pow softplus layer_norm native_layer_norm rms_norm
    group_norm frobenius_norm nuclear_norm norm
    cosine_similarity poisson_nll_loss cosine_embedding_loss nll_loss hinge_embedding_loss
    kl_div l1_loss smooth_l1_loss huber_loss mse_loss margin_ranking_loss multilabel_margin_loss
    soft_margin_loss triplet_margin_loss multi_margin_loss binary_cross_entropy_with_logits cross_entropy
    dist pdist cdist renorm logsumexp interpolate upsample multilabel_soft_margin_loss ctc_loss
    linalg.norm linalg.vector_norm linalg.matrix_norm normalize
"""
# In float32, where they continue what is there beyond its edge.
FULL_MIRROR_CPU = "pad"

# In float32, unless another result type is asked for.
FULL_RESULT_CUDA = "prod softmax log_softmax softmin cumprod cumsum sum"

# Of operands of several types, all become the widest.
WIDEST_CPU = "stack cat concat concatenate index_copy"
WIDEST_CUDA = """
    addcdiv addcmul atan2 arctan2 bilinear cross dot vdot grid_sample grid_sampler index_put tensordot
    scatter_add cat concat concatenate stack
"""
# Refused on CUDA, with a sentence.
UNSAFE_CUDA = "binary_cross_entropy"

CPU = {"lower": LOWER_BOTH, "full": FULL_CPU, "mirror": FULL_MIRROR_CPU, "widest": WIDEST_CPU}
CUDA = {
    "lower": LOWER_BOTH + LOWER_CUDA,
    "full": FULL_CUDA,
    "full_result": FULL_RESULT_CUDA,
    "widest": WIDEST_CUDA,
    "unsafe": UNSAFE_CUDA,
}


def rules() -> dict[str, dict[str, str]]:
    """By name: which rule it has on which kind of device."""
    found: dict[str, dict[str, str]] = {}
    for device, lists in (("cpu", CPU), ("cuda", CUDA)):
        for rule, names in lists.items():
            for name in names.split():
                found.setdefault(name, {})[device] = rule
    return found
