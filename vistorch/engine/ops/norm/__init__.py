"""Batch, layer, group, instance and RMS normalisation, and distances."""

from . import batch, distances, group, layer, standard
