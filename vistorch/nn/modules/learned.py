"""The weight and the bias of a layer, found quickly."""

from __future__ import annotations

from typing import Any


def weight_and_bias(layer: Any) -> tuple[Any, Any]:
    """Both from the table where an attribute is looked up last; what is not there, a pruned weight say, is computed."""
    own = layer._parameters
    try:
        return own["weight"], own["bias"]
    except KeyError:
        return layer.weight, layer.bias
