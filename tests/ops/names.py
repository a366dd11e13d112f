"""The names torch's documentation gives to arguments.

Invariant: a guess does no harm, since a form counts only when torch accepts it.
"""

import inspect
import re

from tests.ops.cases import dtypes_of
from tests.ops.library import L, function_of, prepare, run, torch
from tests.ops.record import Op, Sample

_BATCH = ["input", "weight", "bias", "running_mean", "running_var"]
_BAG = ["scale_grad_by_freq", "per_sample_weights", "include_last_offset", "padding_idx"]
_BATCH_LAYER = ["input", *_BATCH[3:], *_BATCH[1:3], "training", "momentum", "eps"]
_GRID = ["input", "grid", "interpolation_mode", "padding_mode", "align_corners"]
# What the documentation says in prose, or in a signature no parser reads.
NAMES = {
    "searchsorted": [["sorted_sequence", "input"], ["sorted_sequence", "self"]],
    "unique": [["input", "sorted", "return_inverse"]],
    "unique_consecutive": [["input", "return_inverse", "return_counts"]],
    "broadcast_to": [["input", "size"]],
    "split_with_sizes": [["input", "split_sizes", "dim"]],
    "hsplit": [["input", "sections"], ["input", "indices"]],
    "vsplit": [["input", "sections"], ["input", "indices"]],
    "dsplit": [["input", "sections"], ["input", "indices"]],
    "view": [["size"], ["dtype"]],
    "result_type": [
        ["tensor1", "tensor2"],
        ["tensor", "other"],
        ["scalar1", "scalar2"],
        ["scalar", "tensor"],
    ],
    "scalar_tensor": [["s"]],
    "matrix_norm": [["A", "ord", "dim"], ["input", "ord", "dim"], ["self", "ord", "dim"]],
    "matrix_power": [["A", "n"], ["input", "n"], ["self", "n"]],
    "lstsq": [["A", "B"], ["input", "b"], ["self", "b"]],
    "solve_triangular": [["A", "B"], ["input", "B"], ["self", "B"]],
    "randint": [["high", "size"], ["low", "high", "size"]],
    "randint_like": [["input", "high"], ["input", "low", "high"]],
    "type_as": [["other"]],
    "index_put": [["input", "indices", "values", "accumulate"]],
    "put": [["index", "source", "accumulate"]],
    "index_add": [["input", "dim", "index", "source"]],
    "index_copy": [["input", "dim", "index", "source"]],
    "index_fill": [["input", "dim", "index", "value"]],
    "masked_fill": [["input", "mask", "value"]],
    "masked_scatter": [["input", "mask", "source"]],
    "fill": [["input", "value"]],
    "threshold": [["input", "threshold", "value"]],
    "kl_div": [["input", "target", "reduction"]],
    "poisson_nll_loss": [["input", "target", "log_input", "full", "eps", "reduction"]],
    "hinge_embedding_loss": [["input", "target", "margin", "reduction"]],
    "margin_ranking_loss": [["input1", "input2", "target", "margin", "reduction"]],
    "cosine_embedding_loss": [["input1", "input2", "target", "margin", "reduction"]],
    "triplet_margin_loss": [
        ["anchor", "positive", "negative", "margin", "p", "eps", "swap", "reduction"],
    ],
    "binary_cross_entropy_with_logits": [["input", "target", "weight"]],
    "convolution": [
        [
            "input",
            "weight",
            "bias",
            "stride",
            "padding",
            "dilation",
            "transposed",
            "output_padding",
            "groups",
        ]
    ],
    "conv_tbc": [["input", "weight", "bias", "pad"]],
    **{
        f"max_pool{end}": [["input", "kernel_size", "stride", "padding", "dilation", "ceil_mode"]]
        for end in ("1d", "2d", "3d", "1d_with_indices")
    },
    **{f"adaptive_max_pool{end}": [["input", "output_size"]] for end in ("1d", "2d", "3d")},
    **{f"fractional_max_pool{end}": [["input", "kernel_size", "output_size"]] for end in ("2d", "3d")},
    "grid_sampler": [_GRID],
    "grid_sampler_2d": [_GRID],
    "grid_sampler_3d": [_GRID],
    "affine_grid_generator": [["theta", "size", "align_corners"]],
    "batch_norm": [[*_BATCH, "training", "momentum", "eps", "cudnn_enabled"], _BATCH_LAYER],
    "native_batch_norm": [[*_BATCH, "training", "momentum", "eps"]],
    "instance_norm": [
        [*_BATCH, "use_input_stats", "momentum", "eps", "cudnn_enabled"],
        ["input", *_BATCH[3:], *_BATCH[1:3], "use_input_stats", "momentum", "eps"],
    ],
    "layer_norm": [["input", "normalized_shape", "weight", "bias", "eps", "cudnn_enable"]],
    "native_layer_norm": [["input", "normalized_shape", "weight", "bias", "eps"]],
    "rms_norm": [["input", "normalized_shape", "weight", "eps"]],
    "group_norm": [["input", "num_groups", "weight", "bias", "eps", "cudnn_enabled"]],
    "native_group_norm": [["input", "weight", "bias", "N", "C", "HxW", "group", "eps"]],
    "embedding": [
        ["weight", "indices", "padding_idx", "scale_grad_by_freq", "sparse"],
        ["input", "weight", "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse"],
    ],
    "embedding_bag": [
        ["weight", "indices", "offsets", *_BAG[:1], "mode", "sparse", *_BAG[1:]],
        ["input", "weight", "offsets", "max_norm", "norm_type", *_BAG[:1], "mode", "sparse", *_BAG[1:]],
    ],
    "embedding_renorm_": [["input", "indices", "max_norm", "norm_type"]],
    **{
        f"max_pool{end}": [["input", "kernel_size", "stride", "padding", "dilation", "ceil_mode"]]
        for end in ("1d", "2d", "3d", "1d_with_indices")
    },
    **{f"adaptive_max_pool{end}": [["input", "output_size"]] for end in ("1d", "2d", "3d")},
    **{f"fractional_max_pool{end}": [["input", "kernel_size", "output_size"]] for end in ("2d", "3d")},
}
# For functions documented by a sentence that names another.
USUAL = [["input"], ["input", "other"], ["input", "min"], ["input", "max"]]
VARIADIC = {
    "broadcast_tensors",
    "broadcast_shapes",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "meshgrid",
    "cartesian_prod",
    "block_diag",
    "einsum",
    "chain_matmul",
    "is_tensor",
}


def signatures(op: Op) -> list[list[str]]:
    """The parameter names of torch's documented forms of an op."""
    if op.reference is not None:
        names = [name for name in inspect.signature(function_of(op, L)).parameters if name != "out"]
        return [names]
    if op.base in NAMES:
        return NAMES[op.base]
    owner = torch.Tensor if op.name.startswith("Tensor.") else torch
    function = owner
    for part in op.name.removeprefix("Tensor.").split("."):
        function = getattr(function, part)
    try:
        return [[name for name in inspect.signature(function).parameters if name not in ("args", "kwargs")]]
    except (TypeError, ValueError):
        pass
    base = re.escape(op.base)
    text = re.sub(r"\s+", " ", function.__doc__ or "")
    found = []
    for match in re.finditer(rf"(?<![\w`]){base}\(([^()]*(?:\([^()]*\)[^()]*)*)\)", text):
        names = [re.split(r"[=:]", part)[0].strip(" *") for part in re.split(r",(?![^()]*\))", match[1])]
        names = [name for name in names if name and name not in ("/", "out")]
        if all(re.fullmatch(r"\w+", name) for name in names) and names not in found:
            found.append(names)
    return found + USUAL


def has_names(op: Op) -> bool:
    """Whether there is an argument to name."""
    if op.fn is not None or op.name.startswith("Tensor._") or op.base in VARIADIC:
        return False
    method = op.name.startswith("Tensor.")
    if method and not callable(getattr(L.Tensor if op.reference is not None else torch.Tensor, op.base)):
        return False
    return any(len(sample.args) > method for sample in op.samples)


def accepted(op: Op, *forms: Sample) -> str | None:
    """A dtype with which torch accepts all these forms of a call."""
    for dtype in ("float64", "int64", "complex128", "bool"):
        if dtype in dtypes_of(op, forms[0]):
            if all(run(op, prepare(torch, form, dtype)).error is None for form in forms):
                return dtype
    return None
