"""Batch, layer, group, instance and RMS normalisation, and distances."""
