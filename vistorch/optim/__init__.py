"""Optimizers and schedules of their learning rate."""

from .adam import Adam, AdamW
from .optimizer import Optimizer
from .sgd import SGD
