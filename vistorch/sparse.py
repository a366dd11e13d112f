"""Sparse tensors: named, not built.

Invariant: importing it is allowed; using a name of it says so in one sentence.
"""

from .compat.said import unbuilt

WHY = "vistorch's tensors are dense; `to_dense()` in PyTorch first."
FUNCTIONS = """
    addmm mm sum softmax solve log_softmax to_sparse_semi_structured as_sparse_gradcheck
"""
CLASSES = """
    check_sparse_tensor_invariants SparseSemiStructuredTensor SparseSemiStructuredTensorCUTLASS
    SparseSemiStructuredTensorCUSPARSELT
"""
globals().update(unbuilt("vistorch.sparse", WHY, FUNCTIONS, classes=CLASSES))
