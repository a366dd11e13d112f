"""All records, by family. Invariant: no two records share an id."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.ops.record import Op
from tests.ops.samples import (
    chance,
    copies,
    create,
    factors,
    index,
    linalg,
    measures,
    nn_activation,
    nn_attention,
    nn_conv,
    nn_embedding,
    nn_image,
    nn_linear,
    nn_loss,
    nn_normalize,
    nn_padding,
    nn_pool,
    nn_recurrent,
    pointwise,
    random,
    reduce,
    shape,
    special,
    windows,
)

FAMILIES = (
    pointwise,
    reduce,
    shape,
    index,
    create,
    linalg,
    random,
    special,
    measures,
    windows,
    factors,
    copies,
    chance,
)
LAYERS = (
    nn_activation,
    nn_attention,
    nn_conv,
    nn_embedding,
    nn_image,
    nn_linear,
    nn_loss,
    nn_normalize,
    nn_padding,
    nn_pool,
    nn_recurrent,
)
OPS = [op for family in (*FAMILIES, *LAYERS) for op in family.OPS]


def for_each(template: str, applies: Callable[[Op], Any] = lambda op: True) -> pytest.MarkDecorator:
    """Parametrise a template by the records it applies to; a record that `differs` there is left out."""
    chosen = [op for op in OPS if template not in op.differs and applies(op)]
    return pytest.mark.parametrize("op", chosen, ids=[op.id for op in chosen])
