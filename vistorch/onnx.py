"""Export to ONNX: named, not built.

Invariant: importing it is allowed; using a name of it says so in one sentence.
"""

from .compat.said import unbuilt

WHY = "save the state_dict, load it in PyTorch and export it there."
FUNCTIONS = """
    export
"""
CLASSES = """
    OnnxExporterError ONNXProgram ExportableModule InputObserver
"""
globals().update(unbuilt("vistorch.onnx", WHY, FUNCTIONS, classes=CLASSES))


def is_in_onnx_export() -> bool:
    """False: nothing is exported.

    Example:
        >>> import vistorch
        >>> vistorch.onnx.is_in_onnx_export()
        False
    """
    return False
