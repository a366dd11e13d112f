"""Scaled dot-product attention."""

from .scaled import refuse_infinity, scaled_dot_product_attention, ways
