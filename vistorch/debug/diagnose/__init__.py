"""From the symptom to the line: a training that goes wrong is watched by rules, which say what, why and where.

Invariant: a run under diagnosis computes what it computes without.
"""

from .finding import Finding
from .record import DiagnoseRecord
from .session import Diagnosis

__all__ = ["DiagnoseRecord", "Diagnosis", "Finding"]
