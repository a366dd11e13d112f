"""Scaled dot-product attention."""

from .scaled import scaled_dot_product_attention
