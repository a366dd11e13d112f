"""Custom operators of a dispatcher: named, not built.

Invariant: importing it is allowed; using a name of it says so in one sentence.
"""

from .compat.said import unbuilt

WHY = "vistorch has no dispatcher; write an `autograd.Function`."
FUNCTIONS = """
    impl define fallthrough_kernel impl_abstract register_autocast register_fake register_torch_dispatch
    register_vmap get_ctx get_kernel custom_op triton_op wrap_triton infer_schema register_autograd
    register_kernel opcheck
"""
CLASSES = """
    Library
"""
globals().update(unbuilt("vistorch.library", WHY, FUNCTIONS, classes=CLASSES))
