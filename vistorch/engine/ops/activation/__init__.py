"""Activations: relu and the like, softmax, gates, dropout."""

from . import dropout, exponential, gates, gaussian, hard, leaky, logistic, rectify, shrink, soft
