"""Nested tensors: named, not built.

Invariant: importing it is allowed; using a name of it says so in one sentence.
"""

from .compat.said import unbuilt

WHY = "pad to one length (`nn.utils.rnn.pad_sequence`)."
FUNCTIONS = """
    to_padded_tensor as_nested_tensor nested_tensor nested_tensor_from_jagged narrow masked_select
"""
globals().update(unbuilt("vistorch.nested", WHY, FUNCTIONS))
