"""No op without a record, and no name of the library's promise without one.

Invariant: the lists here are the promise; a record may be added without them, never dropped.
"""

import importlib

from tests.ops.library import L, torch
from tests.ops.samples import OPS

PROMISED = """
add sub mul div true_divide floor_divide remainder fmod pow neg abs exp exp2 expm1 log log2 log10 log1p sqrt
rsqrt reciprocal square sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh sigmoid erf erfc
erfinv lgamma digamma floor ceil round trunc frac sign sgn signbit copysign clamp clamp_min clamp_max clip
maximum minimum fmax fmin where lerp addcmul addcdiv nan_to_num isnan isinf isposinf isneginf isfinite
isclose allclose equal eq ne lt le gt ge logical_and logical_or logical_xor logical_not bitwise_and
bitwise_or bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift hypot logaddexp xlogy heaviside
deg2rad rad2deg real imag conj angle polar view_as_real view_as_complex sum mean prod std var std_mean
var_mean max min amax amin aminmax argmax argmin all any norm logsumexp cumsum cumprod cummax cummin
logcumsumexp median nanmedian nansum nanmean quantile mode count_nonzero sort argsort topk kthvalue unique
unique_consecutive bincount histc searchsorted bucketize trapezoid diff view view_as reshape flatten
unflatten ravel squeeze unsqueeze transpose swapaxes permute movedim t T mT expand expand_as broadcast_to
broadcast_tensors repeat repeat_interleave tile cat concat stack hstack vstack dstack column_stack chunk
split tensor_split split_with_sizes unbind narrow select flip fliplr flipud rot90 roll contiguous clone to
type diagonal diag diag_embed diagonal_scatter select_scatter slice_scatter tril triu tril_indices
triu_indices meshgrid unfold as_strided block_diag cartesian_prod combinations atleast_1d atleast_2d
atleast_3d __getitem__ __setitem__ index_put gather scatter scatter_add scatter_reduce index_select
index_add index_copy index_fill masked_fill masked_select masked_scatter take take_along_dim put nonzero
tensor as_tensor asarray from_numpy zeros ones full empty eye arange linspace logspace zeros_like ones_like
full_like empty_like new_zeros new_ones new_full new_empty new_tensor rand randn randint randperm rand_like
randn_like randint_like normal uniform_ bernoulli multinomial exponential_ log_normal_ cauchy_ geometric_
poisson Tensor FloatTensor DoubleTensor HalfTensor BFloat16Tensor LongTensor IntTensor ShortTensor
CharTensor ByteTensor BoolTensor complex fill_ zero_ item tolist finfo iinfo promote_types result_type
can_cast mm bmm mv matmul dot vdot inner outer ger addmm addmv addbmm baddbmm einsum tensordot kron cross
cdist chain_matmul trace linalg.norm linalg.vector_norm linalg.matrix_norm linalg.cond linalg.det
linalg.slogdet linalg.inv linalg.solve linalg.lstsq linalg.cholesky linalg.qr linalg.svd linalg.svdvals
linalg.eigh linalg.eigvalsh linalg.eig linalg.pinv linalg.matrix_rank linalg.matrix_power linalg.multi_dot
linalg.cross logdet fft.fft fft.ifft fft.rfft fft.irfft fft.fft2 fft.ifft2 fft.fftshift fft.ifftshift
__add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __floordiv__ __rfloordiv__
__mod__ __rmod__ __pow__ __rpow__ __matmul__ __rmatmul__ __and__ __rand__ __or__ __ror__ __xor__ __rxor__
__lshift__ __rlshift__ __rshift__ __rrshift__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __neg__ __pos__
__abs__ __invert__ __bool__ __int__ __float__ __complex__ __index__ __len__ __contains__
""".split()


def recorded() -> set[str]:
    """The names that have a record, with and without "Tensor."."""
    return {op.name for op in OPS} | {op.name.removeprefix("Tensor.") for op in OPS}


# Public names that are no ops: what a tensor is and where, numpy's and other libraries' protocols, autograd's handles.
# (pinverse is linalg.pinv with one argument less.) They are tested in
# tests/engine/test_interop.py, test_create.py, test_device.py, test_elsewhere.py and in tests/autograd.
NO_OPS = """
backward cuda data_ptr dim_order from_dlpack frombuffer get_device is_conj is_cpu is_cuda is_distributed is_meta
is_mkldnn is_mps is_neg is_nested is_pinned is_quantized is_same_size is_set_to is_shared is_sparse is_sparse_csr
is_storage is_xpu layout ndimension new new_empty_strided empty_strided empty_permuted numpy register_hook
register_post_accumulate_grad_hook retain_grad set_default_tensor_type storage_offset to_dlpack typename
is_inference dequantize const_data_ptr dense_dim sparse_dim to_dense pin_memory record_stream as_subclass module_load
mtia xpu storage_type symeig untyped_storage storage _typed_storage resolve_conj resolve_neg conj_physical range
pinverse
ccol_indices coalesce col_indices crow_indices indices is_coalesced row_indices values ipu is_ipu is_maia is_mtia
is_vulkan is_xla name reinforce resize resize_as volatile creator
""".split()


def public_ops() -> set[str]:
    """The public names of the library's own tables, in-place variants, aliases and what is no op left out."""
    if L is torch:
        return set()
    face = importlib.import_module(f"{L.__name__}.engine.core.registry")
    every = {**face.FUNCTIONS, **face.METHODS}
    known = {id(every[name]) for name in recorded() if name in every}
    return {
        name
        for name, fn in every.items()
        if not name.endswith("_")
        and id(fn) not in known
        and name not in NO_OPS
        and not hasattr(fn, "unbuilt")
    }


def test_every_promised_op_has_a_record() -> None:
    assert not sorted(set(PROMISED) - recorded())


def test_every_public_op_has_a_record() -> None:
    named = recorded() | {name.rpartition(".")[2] for name in recorded()}
    missing = sorted(name for name in public_ops() if name not in named)
    assert not missing, f"ops without a record in tests/ops/samples: {missing}"


def test_no_two_records_share_an_id() -> None:
    ids = [op.id for op in OPS]
    assert sorted(ids) == sorted(set(ids))


def test_every_record_is_torchs_or_has_a_reference() -> None:
    def exists(name: str) -> bool:
        owner = torch.Tensor if name.startswith("Tensor.") else torch
        for part in name.removeprefix("Tensor.").split("."):
            owner = getattr(owner, part, None)
        return owner is not None

    assert not [op.name for op in OPS if op.reference is None and not exists(op.name)]
