"""Tests of nn.utils."""
