"""Batch, layer, group, instance and RMS normalisation, and distances."""

from . import batch, group, layer, standard
