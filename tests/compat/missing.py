"""PyTorch's names that vistorch has not: (modules, why, names); `*` stands for any letters.

Invariant: a pattern matches no name that exists here; `test_names.py` fails for one that does, or that matches nothing.
"""

OTHER = "insides of PyTorch's build, not for programs"
STATEMENTS = "paragraphs of PyTorch's documentation"

MISSING = [
    ("torch", OTHER, "AVG SUM cpp package quasirandom"),
    ("Tensor", "the type of a gradient is that of its tensor", "grad_dtype"),
    ("Tensor", "dims have no names in PyTorch's first-class sense", "index"),
    ("Tensor", "PyTorch took it away long ago, but for a sentence", "reinforce"),
    ("Tensor", "undoes a slice inside PyTorch's own functionalization", "slice_inverse"),
    ("autograd.graph", "saved tensors are checked here, never cloned", "allow_mutation_on_saved_tensors"),
    ("func", "transforms of traced functions", "rearrange replace_all_batch_norm_modules_"),
    ("linalg", STATEMENTS, "common_notes"),
    ("backends", "libraries that are not here", "cusparselt kleidiai m mha miopen python_native"),
    ("backends.cudnn backends.mkldnn", OTHER, "m"),
    ("compiler", "nothing is captured or compiled", "config"),
    ("cuda", OTHER, "nccl sparse tunable jiterator"),
    ("nn", "there are no quantized tensors", "intrinsic qat quantizable quantized"),
    ("nn.functional", "libraries ask by hasattr whether groups are multiplied at once", "grouped_mm"),
    ("nn.functional", STATEMENTS, "reproducibility_notes sparse_support_notes tf32_notes"),
    ("nn.parameter", "the base of uninitialized parameters, not documented", "UninitializedTensorMixin"),
    (
        "utils",
        OTHER,
        "throughput_benchmark backcompat backend_registration cmake_prefix_path cpp_backtrace weak",
    ),
    ("utils", "fills what `empty` gives, in deterministic mode", "deterministic"),
    ("utils", "a tensor's place in memory is its own", "swap_tensors"),
]
