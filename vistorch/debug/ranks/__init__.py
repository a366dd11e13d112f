"""A training on several ranks: what each of them did when, and who waited for whom."""

from .record import RanksRecord
from .run import RanksRun

__all__ = ["RanksRecord", "RanksRun"]
