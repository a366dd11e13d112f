"""What each row does with samples: a kernel for `Lanes`, made of the row's own kernel for numpy.

A rule calls the row's kernel once for all samples, with the constants that name dims and shapes moved behind the batch
dims. A row without a rule calls it once for each sample.
Invariant: a rule gives what the loop over the samples gives.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernels import conv, strides
from ..memory.lanes import Lanes, Unbatchable, apply, wrapped

Kernel = Callable[..., Any]
BY_NAME: dict[str, Callable[[Any, Kernel], Kernel]] = {}


def kernel_of(rule: Any) -> Kernel:
    """The kernel of a row for samples."""
    plain = rule.kernels[0]
    if getattr(plain, "raises", False):
        return looped(rule, plain)
    making = BY_NAME.get(rule.name)
    if making is None:
        making = pointwise if rule.batching == "pointwise" else looped
    run, count = making(rule, plain), len(rule.inputs)
    if making is looped:
        return run

    def call(*args: Any) -> Any:
        lead = 0
        for a in args[:count]:
            if a.__class__ is Lanes:
                lead = a.lead
            elif a.__class__ is np.ndarray and a.ndim:
                return call(*_lifted(args, count))
        try:
            return run(*args) if lead or args[0].__class__ is list else plain(*args)
        except (ValueError, IndexError, TypeError, AttributeError):
            if rule.view:
                raise
            return each(plain, args)  # it may be the operands' fault: each sample says so

    return call


def _lifted(args: tuple, count: int) -> tuple:
    """Arguments whose plain arrays are shared by all samples."""
    lead = next((a.lead for a in args[:count] if a.__class__ is Lanes), 0)
    return tuple(
        [
            Lanes(a.reshape((1,) * lead + a.shape), lead) if a.__class__ is np.ndarray and i < count else a
            for i, a in enumerate(args)
        ]
    )


def rule_for(names: str) -> Callable:
    """Enter a rule for these rows."""

    def enter(making: Callable[[Any, Kernel], Kernel]) -> Callable:
        BY_NAME.update(dict.fromkeys(names.split(), making))
        return making

    return enter


# ---- one sample after the other ----------------------------------------------------------------------------
def looped(rule: Any, plain: Kernel) -> Kernel:
    """The kernel once for each sample."""
    if rule.view:

        def refuse(*args: Any) -> Any:
            raise Unbatchable(rule.name)

        return refuse

    def call(*args: Any) -> Any:
        return each(plain, args)

    return call


def each(plain: Kernel, args: tuple) -> Any:
    """`plain(*args)` of every sample, stacked."""
    found: list[Lanes] = []
    _search(args, found)
    if not found:
        return plain(*args)
    lanes = np.broadcast_shapes(*[one.lanes for one in found])
    results = [plain(*_sample(args, at)) for at in np.ndindex(lanes)]
    if not results:
        raise Unbatchable("no samples")
    return _joined(results, lanes)


def _search(value: Any, found: list[Lanes]) -> None:
    if value.__class__ is Lanes:
        found.append(value)
    elif value.__class__ in (list, tuple):
        for one in value:
            _search(one, found)


def _sample(value: Any, at: tuple) -> Any:
    if value.__class__ is Lanes:
        return value.array[tuple([i if n > 1 else 0 for i, n in zip(at, value.lanes, strict=True)])]
    if value.__class__ in (list, tuple):
        return value.__class__([_sample(one, at) for one in value])
    return value


def _joined(results: list, lanes: tuple) -> Any:
    first = results[0]
    if first.__class__ in (tuple, list):
        return tuple([_joined([r[i] for r in results], lanes) for i in range(len(first))])
    if not isinstance(first, (np.ndarray, np.generic)):
        return first
    if len({r.shape for r in results}) > 1:
        raise RuntimeError(
            "vmap: We do not support batching operators that can output dynamic shape: the results of the samples have "
            f"the sizes {sorted({tuple(r.shape) for r in results})}."
        )
    return Lanes(np.stack(results).reshape(lanes + first.shape), len(lanes))


# ---- element by element ------------------------------------------------------------------------------------
@rule_for(
    "clone cast conj zeros_like fill fill_by zero add_scaled sub_scaled rsub_scaled addcmul addcdiv "
    "where lerp lerp_tensor share_not inside inside_of clamp clamp_low clamp_high clamp_both "
    "tanh_backward sigmoid_backward round_decimals real_part imag_part polygamma_at logit outside "
    "nan_to_num mvlgamma slope_of_square pow_at_zero pow_rests ones_like_ elu celu elu_backward "
    "elu_backward_from hardshrink softshrink shrink_backward gelu gelu_backward gelu_tanh "
    "gelu_tanh_backward hardtanh hardtanh_backward hardsigmoid hardsigmoid_backward hardswish "
    "hardswish_backward leaky_relu leaky_relu_backward rrelu_fixed silu silu_backward mish mish_backward "
    "softplus softplus_backward log_sigmoid log_sigmoid_backward relu relu_backward threshold "
    "threshold_backward frexp masked_fill masked_fill_by masked_kept mse_loss_backward softplus_of truth "
    "as_byte as_int32 not_nan times_number over_number diff_of_order_zero signed_power size_power "
    "inverse_or_zero real_part_of to_complex is_zero real imag"
)
def pointwise(rule: Any, plain: Kernel) -> Kernel:
    """A function of elements: the samples' shapes broadcast behind the batch dims."""

    def call(*args: Any) -> Any:
        return apply(plain, *args)

    return call


# ---- dims and shapes among the constants -------------------------------------------------------------------
_DIMS = frozenset("dim dims dim0 dim1 dim2 axis".split())


@rule_for(
    "select select_backward slice slice_backward squeeze squeeze_dim squeeze_dims unsqueeze transpose "
    "view reshape_alias reshape diagonal diagonal_backward unfold unfold_backward unbind split "
    "split_with_sizes unsafe_split unsafe_split_with_sizes diag_embed diagonal_copy flip rot90 glu "
    "glu_put glu_backward softmax log_softmax softmax_backward_data log_softmax_backward_data all_dims "
    "any_dims count_dims sum_dims mean_dims nansum_dims amax_dims amin_dims aminmax_dims argmax_at "
    "argmin_at max_dim min_dim prod_dim prefix_product product_of_others cumsum_dim cumprod_dim "
    "cummax_dim cummin_dim logcumsumexp_dim fall rise shift vector_norm_dims logsumexp_dims size_share "
    "tie_share norm_dims sort_dim topk_dim kthvalue_dim median_dim nanmedian_dim mode_dim centred "
    "var_dims std_dims var_mean_dims std_mean_dims fft_c2c fft_r2c fft_c2r half_weights pad_end "
    "linalg_cross take_at put_at as_shape gather gather_backward gather_padded scatter scatter_value "
    "scatter_add cat standard inverse_deviation standard_gradient linear_scan"
)
def shifted(rule: Any, plain: Kernel) -> Kernel:
    """The same kernel with its dims counted, and its shapes continued, behind the batch dims."""
    names, count = rule.consts, len(rule.inputs)
    grows = rule.name == "unsqueeze"

    def call(*args: Any) -> Any:
        arrays, consts = args[:count], args[count:]
        given = dict(zip(names, consts, strict=False))
        several = arrays[0].__class__ is list
        lanes = [a for a in (arrays[0] if several else arrays) if a.__class__ is Lanes]
        if not lanes:
            return plain(*args)
        dims = [given[n] for n in _DIMS if n in given]
        if (
            any(d is None or d == () for d in dims)
            or given.get("whole")
            or (dims and not grows and any(not a.ndim for a in lanes))
            or (len({a.ndim for a in lanes}) > 1)
        ):
            return each(plain, args)
        lead = lanes[0].lead
        full = np.broadcast_shapes(*[a.lanes for a in lanes])
        whole = [a.array if a.lanes == full else np.broadcast_to(a.array, full + a.shape) for a in lanes]
        moved = [
            lanes[0].axes(c) if n in _DIMS else full + tuple(c) if n == "shape" else c
            for n, c in zip(names, consts, strict=False)
        ]
        return wrapped(plain(whole, *moved) if several else plain(*whole, *moved), lead)

    return call


@rule_for("stack")
def stack(rule: Any, plain: Kernel) -> Kernel:
    """Samples stacked along a dim of theirs."""

    def call(arrays: Any, dim: int, parts: Any) -> Any:
        lead = arrays[0].lead
        full = np.broadcast_shapes(*[a.lanes for a in arrays])
        whole = [a.array if a.lanes == full else np.broadcast_to(a.array, full + a.shape) for a in arrays]
        return Lanes(np.stack(whole, dim + lead), lead)

    return call


@rule_for("as_strided")
def as_strided(rule: Any, plain: Kernel) -> Kernel:
    """The memory of each sample with other strides: the samples stay as far apart as they are."""

    def call(input: Lanes, size: tuple, stride: tuple, shift: int, source: tuple) -> Lanes:
        a, lead = input.array, input.lead
        apart = strides.strides_of(a)[:lead]
        return Lanes(strides.strided(np, a, input.lanes + tuple(size), apart + tuple(stride), shift), lead)

    return call


@rule_for("view_as_real view_as_complex")
def pairs(rule: Any, plain: Kernel) -> Kernel:
    """Complex numbers as pairs in a dim behind all others, or the pairs as numbers."""
    return lambda input: Lanes(plain(input.array), input.lead)


@rule_for("permute")
def permute(rule: Any, plain: Kernel) -> Kernel:
    """The dims of each sample in another order."""
    return lambda input, dims: input.transpose(tuple(dims)) if dims else Lanes(input.array[...], input.lead)


@rule_for("t")
def t(rule: Any, plain: Kernel) -> Kernel:
    """The transposed of each sample."""
    return lambda input: input.transpose() if input.ndim else Lanes(input.array[...], input.lead)


@rule_for("basic")
def basic(rule: Any, plain: Kernel) -> Kernel:
    """Plain indexing of each sample."""

    def call(input: Lanes, key: Any) -> Any:
        return input[key]

    return call


@rule_for("whole alias")
def whole(rule: Any, plain: Kernel) -> Kernel:
    """A view of everything."""
    return lambda input: Lanes(input.array[...], input.lead)


@rule_for("contiguous")
def contiguous(rule: Any, plain: Kernel) -> Kernel:
    """A copy, row by row."""
    return lambda input: Lanes(np.array(input.array, order="C"), input.lead)


@rule_for("expand")
def expand(rule: Any, plain: Kernel) -> Kernel:
    """Each sample with repeated elements."""

    def call(input: Lanes, shape: tuple) -> Lanes:
        return Lanes(plain(input.widened(len(shape)), input.lanes + tuple(shape)), input.lead)

    return call


@rule_for("sum_to")
def sum_to(rule: Any, plain: Kernel) -> Kernel:
    """The inverse of it."""

    def call(input: Lanes, shape: tuple) -> Lanes:
        a, lead = input.array, input.lead
        extra = input.ndim - len(shape)
        axes = tuple(range(lead, lead + extra)) + tuple(
            [lead + extra + i for i, n in enumerate(shape) if n == 1 and a.shape[lead + extra + i] != 1]
        )
        return Lanes(a.sum(axes, dtype=a.dtype).reshape(input.lanes + tuple(shape)), lead)

    return call


@rule_for("repeat")
def repeat(rule: Any, plain: Kernel) -> Kernel:
    """Each sample several times along its dims."""

    def call(input: Lanes, repeats: tuple) -> Lanes:
        return Lanes(plain(input.widened(len(repeats)), (1,) * input.lead + tuple(repeats)), input.lead)

    return call


@rule_for("spread_all")
def spread_all(rule: Any, plain: Kernel) -> Kernel:
    """One number of each sample, everywhere."""

    def call(input: Lanes, shape: tuple) -> Lanes:
        return Lanes(
            np.array(np.broadcast_to(input.widened(len(shape)), input.lanes + tuple(shape))), input.lead
        )

    return call


def _of_all(total: Callable) -> Callable:
    def making(rule: Any, plain: Kernel) -> Kernel:
        def call(input: Lanes) -> Any:
            if 0 in input.array.shape:
                return each(plain, (input,))
            return Lanes(total(input.array.reshape((*input.lanes, -1))), input.lead)

        return call

    return making


BY_NAME["sum_all"] = _of_all(lambda a: a.sum(-1, dtype=a.dtype))
BY_NAME["mean_all"] = _of_all(lambda a: a.sum(-1, dtype=a.dtype) / a.dtype.type(a.shape[-1]))
BY_NAME["prod_all"] = _of_all(lambda a: a.prod(-1, dtype=a.dtype))


# ---- rows whose kernels take leading dims as they are ------------------------------------------------------
@rule_for(
    "tril triu linalg_det linalg_slogdet linalg_eigh linalg_eigvalsh linalg_eig linalg_eigvals linalg_qr "
    "linalg_svd linalg_svdvals linalg_inv linalg_cholesky cholesky linalg_matrix_exp safe_softmax "
    "safe_softmax_slope lower set_diag hide_future matrix_power_zero cdist cofactors"
)
def leading(rule: Any, plain: Kernel) -> Kernel:
    """A function of the last dims; all before them are a batch anyway."""
    count = len(rule.inputs)

    def call(*args: Any) -> Any:
        lanes = args[:count]
        if any(a.__class__ is not Lanes for a in lanes) or any(0 in a.array.shape for a in lanes):
            return each(plain, args)
        full = np.broadcast_shapes(*[a.lanes for a in lanes])
        ndim = max(a.ndim for a in lanes)
        whole = [a.widened(ndim) for a in lanes]
        if count > 1:
            whole = [np.broadcast_to(a, full + a.shape[len(full) :]) for a in whole]
        return wrapped(plain(*whole, *args[count:]), lanes[0].lead)

    return call


# ---- products ----------------------------------------------------------------------------------------------
def _matmul(a: np.ndarray, b: np.ndarray, lead: int) -> np.ndarray:
    """Matrices behind `lead` dims; what is shared by all samples is multiplied once, as one matrix."""
    if b.size and b.size == b.shape[-2] * b.shape[-1] and a.ndim == lead + 2:
        rows = a.reshape(int(np.prod(a.shape[:-1])), a.shape[-1])
        return np.dot(rows, b.reshape(b.shape[-2:])).reshape(a.shape[:-1] + b.shape[-1:])
    return np.matmul(a, b)


@rule_for("mm bmm")
def mm(rule: Any, plain: Kernel) -> Kernel:
    """Products of matrices."""
    return lambda input, mat2: Lanes(_matmul(input.array, mat2.array, input.lead), input.lead)


@rule_for("mv")
def mv(rule: Any, plain: Kernel) -> Kernel:
    """A matrix and a vector."""
    return lambda input, vec: Lanes(np.matmul(input.array, vec.array[..., None])[..., 0], input.lead)


@rule_for("dot vdot")
def dot(rule: Any, plain: Kernel) -> Kernel:
    """Two vectors."""
    conjugate = rule.name == "vdot"

    def call(a: Lanes, b: Lanes) -> Lanes:
        first = a.array.conjugate() if conjugate else a.array
        return Lanes(np.matmul(first[..., None, :], b.array[..., None])[..., 0, 0], a.lead)

    return call


def _added(input: Lanes, product: np.ndarray, ndim: int, beta: Any, alpha: Any) -> Lanes:
    if alpha != 1:
        product = product * alpha
    if beta != 0:
        own = input.widened(ndim)
        product = product + (own if beta == 1 else own * beta)
    return Lanes(product, input.lead)


@rule_for("addmm baddbmm")
def addmm(rule: Any, plain: Kernel) -> Kernel:
    """A product of matrices, added to something."""
    ndim = 2 if rule.name == "addmm" else 3

    def call(input: Lanes, a: Lanes, b: Lanes, beta: Any, alpha: Any) -> Lanes:
        return _added(input, _matmul(a.array, b.array, a.lead), ndim, beta, alpha)

    return call


@rule_for("addmv")
def addmv(rule: Any, plain: Kernel) -> Kernel:
    """A product of a matrix and a vector, added to something."""

    def call(input: Lanes, a: Lanes, v: Lanes, beta: Any, alpha: Any) -> Lanes:
        return _added(input, np.matmul(a.array, v.array[..., None])[..., 0], 1, beta, alpha)

    return call


# ---- samples as more of what a row has many of anyway ------------------------------------------------------
def _fold(a: Lanes, full: tuple) -> np.ndarray:
    """The batch dims as one, before the first dim of a sample."""
    whole = a.array if a.lanes == full else np.broadcast_to(a.array, full + a.shape)
    return whole.reshape((int(np.prod(full)), *a.shape))


def _folded(a: Lanes, full: tuple) -> np.ndarray:
    """The batch dims within the first dim of a sample."""
    return _fold(a, full).reshape((int(np.prod(full)) * a.shape[0], *a.shape[1:]))


def _unfolded(made: Any, full: tuple) -> Any:
    if made.__class__ in (tuple, list):
        return tuple([_unfolded(one, full) for one in made])
    count = int(np.prod(full))
    return Lanes(made.reshape((*full, made.shape[0] // count, *made.shape[1:])), len(full))


@rule_for(
    "avg_pool2d avg_pool3d adaptive_avg_pool2d adaptive_avg_pool3d max_pool2d max_pool2d_with_indices "
    "max_pool2d_backward max_pool2d_picked max_pool3d max_pool3d_with_indices max_pool3d_backward "
    "max_pool3d_picked adaptive_max_pool2d adaptive_max_pool2d_with_indices adaptive_max_pool2d_backward "
    "adaptive_max_pool2d_picked adaptive_max_pool3d adaptive_max_pool3d_with_indices "
    "adaptive_max_pool3d_backward adaptive_max_pool3d_picked max_pool1d avg_pool2d_backward "
    "avg_pool3d_backward adaptive_avg_pool2d_backward adaptive_avg_pool3d_backward grid_sample_2d "
    "grid_sample_3d im2col col2im"
)
def into_first(rule: Any, plain: Kernel) -> Kernel:
    """The first dim of a sample counts what is independent: images, or planes."""
    count = len(rule.inputs)

    def call(*args: Any) -> Any:
        lanes = args[:count]
        full = np.broadcast_shapes(*[a.lanes for a in lanes])
        if 0 in full or any(a.ndim < 2 or 0 in a.shape for a in lanes):
            return each(plain, args)
        consts = list(args[count:])
        if "shape" in rule.consts:
            at = rule.consts.index("shape")
            shape = tuple(consts[at])
            consts[at] = (shape[0] * int(np.prod(full)), *shape[1:])
        return _unfolded(plain(*[_folded(a, full) for a in lanes], *consts), full)

    return call


def _shared(*given: Lanes) -> bool:
    return all(a.array.size == a.size for a in given)


def _one(a: Lanes) -> np.ndarray:
    return a.array.reshape(a.shape)


def _grouped(a: Lanes, full: tuple) -> np.ndarray:
    """Images (N, C, ...) of all samples as images with the channels of all samples."""
    whole = _fold(a, full).swapaxes(0, 1)
    return whole.reshape((whole.shape[0], -1, *whole.shape[3:]))


def _ungrouped(made: np.ndarray, full: tuple) -> Lanes:
    count = int(np.prod(full))
    parts = made.reshape((made.shape[0], count, made.shape[1] // count, *made.shape[2:])).swapaxes(0, 1)
    return Lanes(parts.reshape((*full, *parts.shape[1:])), len(full))


@rule_for(
    "convolution convolution_with_bias conv_input_grad convolution_transposed "
    "convolution_transposed_with_bias"
)
def convolution(rule: Any, plain: Kernel) -> Kernel:
    """Images of all samples with one kernel, or groups of channels, each with its own kernel."""
    biased = "bias" in rule.inputs

    def call(*args: Any) -> Any:
        given, consts = args[: 2 + biased], args[2 + biased :]
        input = given[0]
        full = np.broadcast_shapes(*[a.lanes for a in given])
        count = int(np.prod(full))
        if 0 in full or input.ndim < 3 or any(0 in a.shape for a in given):
            return each(plain, args)
        if _shared(*given[1:]):
            return _unfolded(plain(_folded(input, full), *[_one(a) for a in given[1:]], *consts), full)
        weights = [_folded(a, full) for a in given[1:]]
        return _ungrouped(plain(_grouped(input, full), *weights, *consts[:-1], consts[-1] * count), full)

    return call


@rule_for("conv_weight_grad")
def conv_weight_grad(rule: Any, plain: Kernel) -> Kernel:
    """The gradient of each sample's kernel: that of a convolution in groups."""

    def call(*args: Any) -> Any:
        input, other, consts = args[0], args[1], args[2:]
        full = np.broadcast_shapes(input.lanes, other.lanes)
        if 0 in full or 0 in input.shape or 0 in other.shape:
            return each(plain, args)
        count = int(np.prod(full))
        kernel, stride, padding, dilation, groups = consts
        images, weights = _grouped(input, full), _grouped(other, full)
        made = conv.weight_grad(np, images, weights, kernel, stride, padding, dilation, groups * count)
        return _unfolded(made, full)

    return call


@rule_for("conv_bias_grad")
def conv_bias_grad(rule: Any, plain: Kernel) -> Kernel:
    """The sum over the images and positions of each sample."""

    def call(input: Lanes) -> Lanes:
        return input.sum((0, *range(2, input.ndim)))

    return call


@rule_for("index_select index_select_backward")
def index_select(rule: Any, plain: Kernel) -> Kernel:
    """The same rows of every sample, or one sample after the other."""

    def call(*args: Any) -> Any:
        input, index, dim = args[:3]
        if (index.__class__ is Lanes and not _shared(index)) or not input.ndim:
            return each(plain, args)
        rest = [input.lanes + tuple(args[3])] if len(args) > 3 else []
        return Lanes(plain(input.array, _one(index), input.axis(dim), *rest), input.lead)

    return call


@rule_for("embedding")
def embedding(rule: Any, plain: Kernel) -> Kernel:
    """Rows of one table for the indices of all samples."""

    def call(weight: Lanes, indices: Lanes, *consts: Any) -> Any:
        if not _shared(weight):
            return each(plain, (weight, indices, *consts))
        return Lanes(plain(_one(weight), indices.array, *consts), indices.lead)

    return call


@rule_for("native_layer_norm rms_norm")
def layer_norm(rule: Any, plain: Kernel) -> Kernel:
    """A norm over the last dims, if all samples share its weights."""
    count = len(rule.inputs)

    def call(*args: Any) -> Any:
        input, given = args[0], args[1:count]
        if not all(a is None or a.__class__ is not Lanes or _shared(a) for a in given):
            return each(plain, args)
        own = [_one(a) if a.__class__ is Lanes else a for a in given]
        out, *rows = plain(input.array, *own, *args[count:])
        each_own = math.prod(input.shape[: input.ndim - args[count]])
        return (
            Lanes(out, input.lead),
            *[Lanes(row.reshape((*input.lanes, each_own, *row.shape[1:])), input.lead) for row in rows],
        )

    return call
