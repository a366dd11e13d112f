"""Plain records of what the engine did. Imports no IPython and no browser."""

from .stepper import Frame, Stepper

__all__ = ["Frame", "Stepper"]
