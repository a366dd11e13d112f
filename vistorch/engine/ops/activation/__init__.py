"""Activations: relu and its kin, softmax, gates, dropout."""

from . import dropout, exponential, gates, gaussian, hard, leaky, logistic, rectify, shrink, soft
