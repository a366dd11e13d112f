"""A whole backward pass as a record of steps, with each formula's numbers."""

from .build import record
from .numbers import Numbers, numbers_of
from .record import StepsRecord
from .walk import Walk

__all__ = ["Numbers", "StepsRecord", "Walk", "numbers_of", "record"]
