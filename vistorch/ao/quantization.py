"""Quantisation: named, not built.

Invariant: importing it is allowed; using a name of it says so in one sentence.
"""

from ..compat.said import unbuilt

WHY = "train and run in float32, float16 or bfloat16."
FUNCTIONS = """
    quantize quantize_dynamic quantize_qat prepare convert prepare_qat quantize_jit quantize_dynamic_jit
    fuse_modules fuse_modules_qat get_default_qconfig get_default_qat_qconfig
    get_default_qconfig_mapping get_default_qat_qconfig_mapping propagate_qconfig_ add_quant_dequant
    swap_module default_eval_fn
"""
CLASSES = """
    QuantWrapper QuantStub DeQuantStub QuantType ObserverBase HistogramObserver MinMaxObserver
    MovingAverageMinMaxObserver FakeQuantize QConfig QConfigMapping
"""
globals().update(unbuilt("vistorch.ao.quantization", WHY, FUNCTIONS, classes=CLASSES))
