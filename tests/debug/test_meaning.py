"""One sentence for an op: it belongs to an op there is, and to no function of the user."""

import inspect
import re

import pytest

import vistorch as L
from vistorch import nn
from vistorch.debug import meaning, meaning_of
from vistorch.debug.meaning import MEANING
from vistorch.engine.core import rules


class Log(L.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


def test_a_function_of_the_user_has_none_whatever_its_name():
    y = Log.apply(L.ones(2, requires_grad=True))
    assert meaning_of(y.grad_fn.name()) == ""
    assert meaning_of((y + 1).log().grad_fn.name()) == "Log: the natural logarithm of each element."
    assert meaning_of("") == meaning_of("NobodysBackward0") == ""


def test_every_sentence_is_of_an_op_there_is():
    rows = [one for rule in rules.TABLE.values() for one in (rule, *rule.variants)]
    names = {meaning.short(one.grad_name) for one in rows} | {
        "ClampMin",
        "ClampMax",
    }  # other names of two rows
    x = L.ones(2, requires_grad=True)
    assert [x.clamp(min=0).grad_fn.name(), x.clamp_max(2).grad_fn.name()] == [
        "ClampBackward1",
        "ClampMaxBackward0",
    ]
    assert set(MEANING) <= names
    assert len(MEANING) >= 60
    for op, text in MEANING.items():
        assert text == " ".join(text.split()) and not text.endswith("."), op


def test_no_op_is_explained_twice():
    written = re.findall(r'^    "(\w+)": ', inspect.getsource(meaning), re.M)
    assert len(written) == len(set(written)) == len(MEANING)


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (nn.Linear(3, 2), (4, 3)),
        (nn.Conv2d(1, 2, 3), (1, 1, 5, 5)),
        (nn.BatchNorm2d(2), (3, 2, 2, 2)),
        (nn.LayerNorm(3), (2, 3)),
        (nn.MaxPool2d(2), (1, 1, 4, 4)),
        (nn.AdaptiveAvgPool2d((2, 3)), (1, 1, 4, 6)),
        (nn.GELU(), (3,)),
        (nn.LogSoftmax(-1), (2, 3)),
        (nn.Dropout(0.5), (4,)),
    ],
)
def test_the_ops_of_common_layers_have_one(layer, shape):
    made = layer(L.ones(*shape, requires_grad=True))
    assert meaning_of(made.grad_fn.name()), made.grad_fn
