"""The documentation of constructors: written from tables, complete for every module and optimizer."""

import inspect
import re

import pytest

import vistorch
from vistorch.engine.base.argument_docs import arguments

TABLE = {"size": "how large it is.", "name": "what it is called."}


class Thing:
    """Something.

    Example:
        >>> 1
        1
    """

    def __init__(self, size, *, name="x", **more):
        local = size  # no argument
        self.size = local


def test_arguments_stand_before_the_example_in_the_order_of_the_signature():
    class Documented(Thing):
        __doc__ = Thing.__doc__

    arguments(TABLE, name="its " + "long " * 30 + "name.")(Documented)
    text = inspect.cleandoc(Documented.__doc__)
    assert text.startswith("Something.\n\nArgs:\n    size: how large it is.\n    name: its long long")
    assert text.endswith("long name.\n\nExample:\n    >>> 1\n    1")
    assert max(map(len, Documented.__doc__.splitlines())) <= 120


def test_what_has_no_sentence_or_no_place_is_refused():
    with pytest.raises(TypeError, match="argument 'name' of Thing has no sentence"):
        arguments({"size": "how large it is."})(Thing)

    class Bare(Thing):
        """Nothing behind this."""

    with pytest.raises(TypeError, match="needs `Shape:` or `Example:`"):
        arguments(TABLE)(Bare)
    Bare.__doc__ = None  # as under python -OO
    assert arguments(TABLE)(Bare) is Bare


def named_arguments(cls):
    """The arguments of a constructor; none where it takes whatever it is given."""
    kinds = inspect.signature(cls).parameters.values()
    return [p.name for p in kinds if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


CLASSES = {
    name: thing
    for module in (vistorch.nn, vistorch.optim)
    for name, thing in vars(module).items()
    if isinstance(thing, type)
    and issubclass(thing, (vistorch.nn.Module, vistorch.optim.Optimizer))
    and named_arguments(thing)
    and not re.match(r"Lazy(Conv|Linear)", name)  # which say of which class they are
}


@pytest.mark.parametrize("name", CLASSES)
def test_every_argument_of_a_constructor_is_documented_in_order(name):
    section = inspect.cleandoc(CLASSES[name].__doc__).partition("\nArgs:\n")[2].partition("\n\n")[0]
    assert re.findall(r"^    (\w+): ", section, re.M) == named_arguments(CLASSES[name])


@pytest.mark.parametrize(
    "name", ["Conv2d", "ConvTranspose1d", "AvgPool3d", "MaxUnpool2d", "ZeroPad2d", "ReflectionPad1d"]
)
def test_a_family_member_is_called_wrongly_under_its_own_name(name):
    with pytest.raises(TypeError, match=rf"^{name}\.__init__\(\) missing \d+ required positional"):
        getattr(vistorch.nn, name)()
