"""Every public function, class and method shows an example, and every one of the examples runs.

`--doctest-modules` runs those that stand in a file under the name of what they belong to; those of what is made from a
table, by a builder or by a decorator are out of its reach and run here. Invariant: what is exempt says why.
"""

import doctest
import functools
import importlib
import inspect
import io
import re
import sys

import pytest

import vistorch
from tests.compat import test_names as torchs
from tests.ops.library import torch

MODULES = """
    vistorch vistorch.nn vistorch.nn.functional vistorch.nn.init vistorch.nn.utils vistorch.nn.utils.prune
    vistorch.nn.parallel vistorch.nn.grad vistorch.optim vistorch.optim.lr_scheduler
    vistorch.autograd vistorch.autograd.functional vistorch.func vistorch.utils.data
    vistorch.vision vistorch.vision.transforms vistorch.vision.transforms.functional vistorch.vision.datasets
    vistorch.vision.transforms.v2 vistorch.vision.transforms.v2.functional vistorch.vision.tv_tensors
    vistorch.vision.models vistorch.vision.io vistorch.vision.utils
    vistorch.linalg vistorch.fft vistorch.special vistorch.signal.windows vistorch.distributions vistorch.random
    vistorch.cuda vistorch.accelerator vistorch.amp vistorch.multiprocessing
    vistorch.debug vistorch.debug.watch vistorch.vt vistorch.testing
""".split()
TORCH_MODULES = [f"vistorch.{name}" for name in torchs.MODULES if name not in ("torch", "Tensor")]
TORCH_MODULES += """
    vistorch.backends.cpu vistorch.backends.mkl vistorch.backends.nnpack vistorch.backends.opt_einsum vistorch.cpu.amp
    vistorch.cuda.comm vistorch.cuda.profiler vistorch.distributed vistorch.fx vistorch.masked vistorch.mps
    vistorch.multiprocessing.spawn vistorch.nn.utils.fusion vistorch.nn.utils.spectral_norm
    vistorch.nn.utils.weight_norm vistorch.onnx vistorch.utils.benchmark vistorch.utils.collect_env
    vistorch.utils.tensorboard vistorch.xpu
""".split()
TENSOR = "vistorch.Tensor"
EXEMPT = {
    "vistorch.load_ipython_extension": "IPython calls it, with its shell, for `%load_ext vistorch`",
    "vistorch.unload_ipython_extension": "IPython calls it, with its shell, for `%unload_ext vistorch`",
}


def names_of(namespace):
    """What a module offers, by its own word or else by what it holds."""
    return getattr(namespace, "__all__", None) or [
        name for name in dir(namespace) if not name.startswith("_")
    ]


def namespaces():
    """Yield the public modules and the names each offers: ours by our word, then those of PyTorch's by PyTorch's."""
    for title in MODULES:
        namespace = importlib.import_module(title)
        yield title, namespace, names_of(namespace)
    for title in TORCH_MODULES:
        name = title.partition(".")[2]
        if namespace := torchs.module_of(vistorch, name):
            theirs = torchs.module_of(torch, name)
            yield title, namespace, sorted(torchs.public(theirs)) if theirs else names_of(namespace)


@functools.cache
def offered():
    """List every public callable of the modules once, under its first name, and every method of Tensor."""
    return list(walk())


def walk():
    """Yield what `offered` lists."""
    seen = set()
    for title, namespace, names in namespaces():
        for name in names:
            thing = getattr(namespace, name, None)
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


def methods():
    """Yield every public method and property that a public class itself defines, and that class."""
    for title, thing in offered():
        if inspect.isclass(thing) and title != TENSOR:
            for name, made in vars(thing).items():
                if not name.startswith("_") and (
                    callable(getattr(thing, name)) or isinstance(made, property)
                ):
                    yield f"{title}.{name}", thing, name


def shown(cls, name):
    """Whether a method has an example: its own, that of the method it overrides, or a line of its class's example."""
    for above in cls.__mro__:
        if name in vars(above) and example_of(getattr(above, name)):
            return True
        lines = (
            line for line in (above.__doc__ or "").splitlines() if line.lstrip().startswith((">>>", "..."))
        )
        if any(re.search(rf"\.{name}\b", line) for line in lines):
            return True
    return False


def reached(thing):
    """Whether `--doctest-modules` finds it: the file that it says it is from holds it."""
    if isinstance(thing, property):
        return True
    if inspect.ismethod(thing):  # it is run with the class that it stands in
        return reached(getattr(sys.modules[thing.__module__], thing.__qualname__.rpartition(".")[0], None))
    if not hasattr(thing, "__name__"):  # an instance has the words of its class
        thing = type(thing)
    module = sys.modules.get(thing.__module__, sys)
    if not hasattr(module, "__file__"):  # made from the table of what is not built
        return False
    return any(thing is other for other in vars(module).values())


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


def test_every_public_method_shows_an_example():
    without = [title for title, cls, name in methods() if not shown(cls, name)]
    assert without == [], "no example in the docstrings of these, of what they override, or of their class"


@pytest.mark.parametrize("namespace", dict.fromkeys([*MODULES, *TORCH_MODULES, TENSOR]))
def test_examples_out_of_the_reach_of_doctest_modules(namespace):
    made = {
        doc: title
        for title, thing in offered()
        if title.rpartition(".")[0] == namespace and not reached(thing) and (doc := example_of(thing))
    }
    wrong = [said for doc, title in made.items() if (said := failures(title, doc))]
    assert not wrong, "\n".join(wrong)


def test_an_example_can_fail():
    assert "Expected:" in failures("sum", ">>> 1 + 1\n3\n")
    assert not failures("sum", ">>> 1 + 1\n2\n")
