"""Forward mode: named, not built.

Invariant: importing it is allowed; using a name of it says so in one sentence.
"""

from ..compat.said import unbuilt

globals().update(
    unbuilt(
        "vistorch.autograd.forward_ad",
        "vistorch differentiates backwards; `autograd.functional.jvp` and `func.jvp` give the same numbers.",
        "enter_dual_level exit_dual_level make_dual unpack_dual",
        "UnpackedDualTensor dual_level",
    )
)
