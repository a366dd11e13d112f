"""Functions of functions: gradients, Jacobians, and modules called with other parameters."""

from .batches import vmap
from .derivatives import grad, grad_and_value, vjp
from .jacobians import hessian, jacfwd, jacrev, jvp, linearize
from .modules import functional_call, replace_all_batch_norm_modules_, stack_module_state
from .rearranging import rearrange

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "rearrange",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]
