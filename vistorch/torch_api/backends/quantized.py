"""Quantised arithmetic: not built."""

engine = "none"
supported_engines = ["none"]
