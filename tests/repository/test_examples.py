"""Every public function, class and tensor method shows an example, and every one of the examples runs.

`--doctest-modules` runs those that stand in a file under the name of what they belong to; those of what is made from a
table, by a builder or by a decorator are out of its reach and run here. Invariant: what is exempt says why.
"""

import doctest
import importlib
import inspect
import io
import sys

import pytest

import vistorch

ROOMS = """
    vistorch vistorch.nn vistorch.nn.functional vistorch.nn.init vistorch.nn.utils vistorch.nn.utils.prune
    vistorch.nn.parallel vistorch.nn.grad vistorch.optim vistorch.optim.lr_scheduler
    vistorch.autograd vistorch.autograd.functional vistorch.func vistorch.utils.data
    vistorch.vision vistorch.vision.transforms vistorch.vision.transforms.functional vistorch.vision.datasets
    vistorch.vision.models vistorch.vision.io vistorch.vision.utils
    vistorch.linalg vistorch.fft vistorch.special vistorch.signal.windows vistorch.distributions vistorch.random
    vistorch.cuda vistorch.accelerator vistorch.amp vistorch.multiprocessing
    vistorch.debug vistorch.debug.watch vistorch.vt vistorch.testing
""".split()
TENSOR = "vistorch.Tensor"
EXEMPT = {
    "vistorch.load_ipython_extension": "IPython calls it, with its shell, for `%load_ext vistorch`",
    "vistorch.unload_ipython_extension": "IPython calls it, with its shell, for `%unload_ext vistorch`",
}


def names_of(room):
    """What a room offers, by the room's own word or else by what it holds."""
    return getattr(room, "__all__", None) or [name for name in dir(room) if not name.startswith("_")]


def offered():
    """Yield every public callable of the rooms once, under its first name, and every method of Tensor."""
    seen = set()
    for title in ROOMS:
        room = importlib.import_module(title)
        for name in names_of(room):
            thing = getattr(room, name)
            ours = str(getattr(thing, "__module__", "")).startswith("vistorch")
            if callable(thing) and ours and not inspect.ismodule(thing) and id(thing) not in seen:
                seen.add(id(thing))
                yield f"{title}.{name}", thing
    for name in dir(vistorch.Tensor):
        if not name.startswith("_"):
            yield f"{TENSOR}.{name}", getattr(vistorch.Tensor, name)


def example_of(thing):
    """Return its docstring, if that shows an example."""
    doc = inspect.getdoc(thing) or ""
    return doc if ">>>" in doc else None


def reached(thing):
    """Whether `--doctest-modules` finds it: the file that it says it is from holds it."""
    if isinstance(thing, property):
        return True
    if inspect.ismethod(thing):  # it is run with the class that it stands in
        return reached(getattr(sys.modules[thing.__module__], thing.__qualname__.rpartition(".")[0], None))
    if not hasattr(thing, "__name__"):  # an instance has the words of its class
        thing = type(thing)
    return any(thing is other for other in vars(sys.modules.get(thing.__module__, sys)).values())


def failures(title, doc):
    """Run an example as a reader would, and return what went wrong."""
    said = io.StringIO()
    test = doctest.DocTestParser().get_doctest(doc, {"__name__": "__main__"}, title, None, 0)
    result = doctest.DocTestRunner(verbose=False).run(test, out=said.write)
    assert result.attempted
    return said.getvalue()


def test_every_public_name_shows_an_example():
    without = {title for title, thing in offered() if example_of(thing) is None}
    assert sorted(without - set(EXEMPT)) == [], "no example in the docstrings of these"
    assert sorted(set(EXEMPT) - without) == [], "these are exempt, and have an example or are gone"


@pytest.mark.parametrize("room", [*ROOMS, TENSOR])
def test_examples_out_of_the_reach_of_doctest_modules(room):
    made = {
        doc: title
        for title, thing in offered()
        if title.rpartition(".")[0] == room and not reached(thing) and (doc := example_of(thing))
    }
    wrong = [said for doc, title in made.items() if (said := failures(title, doc))]
    assert not wrong, "\n".join(wrong)


def test_an_example_can_fail():
    assert "Expected:" in failures("sum", ">>> 1 + 1\n3\n")
    assert not failures("sum", ">>> 1 + 1\n2\n")
