"""Ahead-of-time export: named, not built.

Invariant: importing it is allowed; using a name of it says so in one sentence.
"""

from .compat.said import unbuilt

WHY = "vistorch does not trace modules; save the state_dict."
FUNCTIONS = """
    default_decompositions dims draft_export export load register_dataclass save unflatten
"""
CLASSES = """
    AdditionalInputs Constraint CustomDecompTable Dim ExportBackwardSignature ExportedProgram
    ExportGraphSignature FlatArgsAdapter ModuleCallEntry ModuleCallSignature ShapesCollection
    UnflattenedModule
"""
globals().update(unbuilt("vistorch.export", WHY, FUNCTIONS, classes=CLASSES))
