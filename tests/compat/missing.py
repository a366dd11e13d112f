"""PyTorch's names that vistorch has not: (modules, why, names); `*` stands for any letters.

Invariant: a pattern matches no name that exists here; `test_names.py` fails for one that does, or that matches nothing.
"""

OTHER = "insides of PyTorch's build, not for programs"
STATEMENTS = "paragraphs of PyTorch's documentation"

MISSING = [
    ("torch", OTHER, "AVG SUM cpp"),
    ("linalg", STATEMENTS, "common_notes"),
    ("backends backends.cudnn backends.mkldnn", OTHER, "m"),
    ("nn.functional", "libraries ask by hasattr whether groups are multiplied at once", "grouped_mm"),
    ("nn.functional", STATEMENTS, "reproducibility_notes sparse_support_notes tf32_notes"),
    ("nn.parameter", "the base of uninitialized parameters, not documented", "UninitializedTensorMixin"),
    ("utils", "a folder of PyTorch's headers", "cmake_prefix_path"),
    ("utils", "a tensor's place in memory is its own", "swap_tensors"),
]
