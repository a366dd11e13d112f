"""All records, by family. Invariant: no two records share an id.

`VISTORCH_RECORDS=exp,sum` limits the templates to the records of those names, which also makes them quick to collect.
"""

import os
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


def asked_for() -> list[Op]:
    """The records that the environment asks for; all where it names none, an error where it names one not there."""
    names = {name for name in os.environ.get("VISTORCH_RECORDS", "").split(",") if name}
    if unknown := names - {op.name for op in OPS}:
        raise ValueError(f"VISTORCH_RECORDS names no record: {', '.join(sorted(unknown))}")
    return [op for op in OPS if op.name in names] if names else OPS


def for_each(template: str, applies: Callable[[Op], Any] = lambda op: True) -> pytest.MarkDecorator:
    """Parametrise a template by the records it applies to; a record that `differs` there is left out."""
    chosen = [op for op in asked_for() if template not in op.differs and applies(op)]
    return pytest.mark.parametrize("op", chosen, ids=[op.id for op in chosen])
