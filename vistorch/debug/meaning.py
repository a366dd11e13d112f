"""What an op does, in one sentence each, by the name of its node.

Invariant: a sentence says what the forward op computes, never what it is good for; an op without a sentence has none.
"""

from __future__ import annotations

import re

_BACKWARD = re.compile(r"Backward\d*$")
_OWN = re.compile(r"Backward\d+$")

MEANING = {
    "Abs": "the size of each element, without its sign",
    "AdaptiveAvgPool2D": "means over as many windows as the output has places, whatever the size of the input",
    "Add": "input + alpha × other, element by element; alpha is 1 unless given",
    "Addbmm": "input + the sum of the products of two batches of matrices",
    "Addcdiv": "input + value × tensor1 / tensor2, element by element",
    "Addcmul": "input + value × tensor1 × tensor2, element by element",
    "Addmm": "input + mat1 × mat2, a matrix product: with bias and weight the arithmetic of a Linear layer",
    "Addmv": "input + mat × vec, a matrix times a vector",
    "Alias": "the same values under another name: nothing is computed",
    "Amax": "the largest element along the given dims; ties share the gradient",
    "Amin": "the smallest element along the given dims; ties share the gradient",
    "AsStrided": "a view of the same memory with the given size, strides and offset",
    "AvgPool2D": "the mean of each window of the two last dims",
    "AvgPool3D": "the mean of each window of the three last dims",
    "Baddbmm": "input + batch1 × batch2, a matrix product for each place in the batch",
    "BatchNorm": (
        "each channel minus a mean, divided by a standard deviation (in training of the batch, else the "
        "running ones); times weight plus bias"
    ),
    "BinaryCrossEntropy": "−(target × log input + (1 − target) × log(1 − input)), for probabilities",
    "BinaryCrossEntropyWithLogits": "binary cross entropy of sigmoid(input), computed without overflow",
    "Bmm": "a matrix product for each place in the batch",
    "Cat": "the tensors one after another along one dim",
    "Clamp": "each element, but no less than min and no more than max",
    "ClampMax": "each element, but no more than max",
    "ClampMin": "each element, but no less than min",
    "Clone": "a copy of the values in memory of its own",
    "ConstantPadNd": "the tensor with a border of one constant value",
    "Convolution": (
        "sums of input × weight over a window that slides along the input, plus bias; transposed, the "
        "window spreads each element"
    ),
    "Cos": "the cosine of each element",
    "Cosh": "the hyperbolic cosine of each element",
    "Cumprod": "running products along one dim",
    "Cumsum": "running sums along one dim",
    "Diagonal": "a view of a diagonal",
    "Div": "the quotient of two tensors, element by element",
    "Dot": "the sum of the products of two vectors",
    "Elu": "scale × x where x is positive, else scale × alpha × (eˣ − 1)",
    "Embedding": "rows of the weight, picked by the indices",
    "Erf": "the error function of each element",
    "Exp": "e to the power of each element",
    "Exp2": "2 to the power of each element",
    "Expand": "a view that repeats dims of size 1 without a copy",
    "Expm1": "eˣ − 1 for each element, precise near 0",
    "Flip": "the elements in reverse order along the given dims",
    "Gather": "elements picked along one dim by an index for each place of the output",
    "Gelu": "x × Φ(x), the share of a standard normal below x, or its approximation by tanh",
    "Glu": "the first half times the sigmoid of the second half",
    "GroupNorm": (
        "each group of channels minus its mean, divided by its standard deviation; then times weight "
        "plus bias"
    ),
    "Hardsigmoid": "clamp(x + 3, 0, 6) / 6",
    "Hardswish": "x × clamp(x + 3, 0, 6) / 6",
    "Hardtanh": "each element, but no less than min_val and no more than max_val",
    "HuberLoss": "half the squared error up to delta, beyond it delta × (error − delta / 2)",
    "Index": "elements picked by index tensors or masks",
    "IndexPut": "a tensor some of whose elements were replaced, or added to, at the given indices",
    "IndexSelect": "the given places of one dim, in the order of the index",
    "LayerNorm": "the last dims minus their mean, divided by their standard deviation; then times weight plus bias",
    "LeakyRelu": "x where it is positive, else negative_slope × x",
    "Lerp": "start + weight × (end − start), a mix of two tensors",
    "LinalgVectorNorm": "the length of a vector: a root of the sum of powers",
    "Log": "the natural logarithm of each element",
    "Log10": "the logarithm to base 10 of each element",
    "Log1P": "log(1 + x) for each element, precise near 0",
    "Log2": "the logarithm to base 2 of each element",
    "LogSigmoid": "the logarithm of the sigmoid, computed without overflow",
    "LogSoftmax": "the logarithm of the softmax along one dim: x − log of the sum of eˣ",
    "Logsumexp": "the logarithm of the sum of eˣ along the given dims, computed without overflow",
    "MaskedFill": "the tensor with one value wherever the mask is true",
    "MaskedSelect": "the elements where the mask is true, as one row",
    "Max": "the largest element, or the largest along one dim",
    "MaxPool2D": "the largest element of each window of the two last dims",
    "MaxPool3D": "the largest element of each window of the three last dims",
    "Maximum": "the larger of two elements, place by place",
    "Mean": "the mean of all elements, or along the given dims",
    "Median": "the median of the elements, or of those along one dim",
    "Min": "the smallest element, or the smallest along one dim",
    "Minimum": "the smaller of two elements, place by place",
    "Mish": "x × tanh(log(1 + eˣ))",
    "Mm": "the product of two matrices",
    "MseLoss": "(input − target)², its mean or sum unless reduction is none",
    "Mul": "the product of two tensors, element by element",
    "Mv": "a matrix times a vector",
    "Neg": "each element with its sign turned",
    "NllLoss": (
        "−input at the class of each target, its mean or sum unless reduction is none: log "
        "probabilities are expected"
    ),
    "NllLoss2D": (
        "−input at the class of each pixel, its mean or sum unless reduction is none: log probabilities "
        "are expected"
    ),
    "Permute": "a view with the dims in another order",
    "PixelShuffle": "channels spread out as pixels of a larger picture",
    "Pow": "each element to a power",
    "PreluKernel": "x where it is positive, else the learned weight × x",
    "Prod": "the product of the elements",
    "Reciprocal": "1 / x for each element",
    "ReflectionPad2D": "the tensor with a border that mirrors its inside",
    "Relu": "x where it is positive, else 0",
    "Repeat": "the tensor repeated along each dim, copied",
    "ReplicationPad2D": "the tensor with a border that repeats its edge",
    "ReshapeAlias": "the same values seen in another shape",
    "Roll": "the elements shifted along dims; what leaves one end enters at the other",
    "Rsqrt": "1 / √x for each element",
    "Rsub": "other − alpha × input, element by element",
    "ScaledDotProductFlashAttentionForCpu": (
        "softmax(scale × query × keyᵀ) × value: rows of value, mixed by how well query and key agree"
    ),
    "Scatter": "a tensor with elements replaced along one dim at the given indices",
    "ScatterAdd": "a tensor with elements added along one dim at the given indices",
    "Select": "a view of one place of one dim",
    "Sigmoid": "1 / (1 + e⁻ˣ): each element between 0 and 1",
    "Silu": "x × sigmoid(x)",
    "Sin": "the sine of each element",
    "Sinh": "the hyperbolic sine of each element",
    "Slice": "a view of a range of one dim",
    "SmoothL1Loss": (
        "half the squared error over beta where the error is below beta, else the error less half of beta"
    ),
    "Softmax": "eˣ divided by its sum along one dim: positive numbers that sum to 1",
    "Softplus": "log(1 + e^(beta × x)) / beta, a smooth Relu",
    "Sort": "the elements of one dim in order",
    "Split": "views of one dim in parts",
    "SplitWithSizes": "views of one dim in parts of the given sizes",
    "Sqrt": "the square root of each element",
    "Squeeze": "a view without dims of size 1",
    "Stack": "the tensors side by side along a new dim",
    "Std": "the standard deviation of the elements",
    "Sub": "input − alpha × other, element by element; alpha is 1 unless given",
    "Sum": "the sum of all elements, or along the given dims",
    "T": "the transpose of a matrix: a view",
    "Tan": "the tangent of each element",
    "Tanh": "the hyperbolic tangent of each element: between −1 and 1",
    "ToCopy": "the same values in another dtype, device or memory layout",
    "Topk": "the k largest, or smallest, elements of one dim",
    "Transpose": "a view with two dims swapped",
    "Tril": "the lower triangle of matrices, 0 elsewhere",
    "Triu": "the upper triangle of matrices, 0 elsewhere",
    "Unbind": "views of each place of one dim",
    "Unfold": "a view of windows along one dim",
    "UnsafeSplit": "one dim in parts",
    "UnsafeView": "the same values in another shape",
    "Unsqueeze": "a view with a new dim of size 1",
    "UpsampleBilinear2D": "the picture at another size, mixed of its four nearest pixels",
    "UpsampleNearest2D": "the picture at another size, each place its nearest pixel",
    "Var": "the variance of the elements",
    "View": "the same values seen in another shape",
    "Where": "elements of one tensor where the condition is true, of the other elsewhere",
}


def short(name: str) -> str:
    """An op's short name: "AddmmBackward0" is Addmm.

    Args:
        name: the name of a node.

    Example:
        >>> from vistorch.debug.meaning import short
        >>> short("AddmmBackward0"), short("NativeBatchNormBackward0")
        ('Addmm', 'BatchNorm')
    """
    found = _BACKWARD.sub("", name.rpartition("::")[2]) or name
    return found.removeprefix("Native").removesuffix("WithIndices") or found


def meaning_of(name: str) -> str:
    """What the op of a node computes, "" where no sentence is known.

    Args:
        name: the name of a node, as `grad_fn.name()` gives it.

    Example:
        >>> from vistorch.debug import meaning_of
        >>> meaning_of("MmBackward0")
        'Mm: the product of two matrices.'
        >>> meaning_of("MyFunctionBackward")
        ''
    """
    op = short(name) if _OWN.search(name) else ""  # a function of the user may have any name, but no number
    return f"{op}: {MEANING[op]}." if op in MEANING else ""
