"""One story in two libraries: a test function is run with vistorch and with torch, and what it reports is compared.

    @story
    def test_something(L, report):
        report(L.ones(2))                     # a tensor: type, shape and values
        report.raises(lambda: L.ones(2) @ 3)  # an exception: type and sentence
        report.warns(lambda: ...)             # the warnings of a call, then its result

Invariant: everything reported is compared, to the character where it is text, with `torch` for `vistorch`.
"""

import functools
import inspect
import re
import warnings

import numpy as np
import pytest

import vistorch

torch = pytest.importorskip("torch", reason="torch is the reference")

INSIDES = re.compile(
    r" ?\(Triggered internally.*?\)$|\nException raised.*| This type of warning will be suppressed.*program\.",
    re.S,
)


def plain(text):
    """A text that does not tell the libraries, or two objects, apart."""
    text = re.sub(r" at 0x[0-9a-f]+", "", str(text))
    text = text.replace("vistorch", "torch").replace("torch._C.", "torch.").replace("PyTorch", "torch")
    return INSIDES.sub("", text)


class Reporter:
    """What a story reports, in order."""

    def __init__(self, library):
        self.library = library
        self.seen = []

    def __call__(self, *values):
        for value in values:
            self.seen.append(self.form(value))

    def form(self, value):
        """A value in a form that can be compared."""
        if isinstance(value, self.library.Tensor):
            kept = value.detach().cpu()
            kept = kept.float() if str(kept.dtype).endswith("bfloat16") else kept
            return (
                "tensor",
                plain(value.dtype),
                plain(type(value)),
                value.requires_grad,
                np.array(kept.numpy()),
            )
        if isinstance(value, dict):
            return (plain(type(value)), [(self.form(k), self.form(v)) for k, v in value.items()])
        if isinstance(value, list | tuple | set):
            return (plain(type(value).__name__), [self.form(v) for v in value])
        if isinstance(value, float):
            return ("tensor", "float", "", False, np.array(value))
        return plain(value)

    def raises(self, act):
        """The exception of a call; that it raised nothing, if so."""
        try:
            self("gave", act())
        except Exception as error:
            self("raised", type(error).__name__, str(error))

    def warns(self, act):
        """The warnings of a call, and what it gave."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            torch.set_warn_always(True)
            try:
                result = act()
            finally:
                torch.set_warn_always(False)
        self([(w.category.__name__, str(w.message)) for w in caught if w.category is not DeprecationWarning])
        return result


def same(ours, theirs, rtol, atol, path="reported"):
    """Compare two reported values; the path says where they differ."""
    if isinstance(theirs, tuple) and len(theirs) == 5 and theirs[0] == "tensor":
        assert isinstance(ours, tuple) and ours[:4] == theirs[:4], f"{path}: {ours} is not {theirs}"
        np.testing.assert_allclose(ours[4], theirs[4], rtol=rtol, atol=atol, err_msg=path)
        assert ours[4].shape == theirs[4].shape, path
    elif isinstance(theirs, tuple | list):
        assert isinstance(ours, tuple | list), f"{path}: {ours} is not {theirs}"
        for i, (a, b) in enumerate(zip(ours, theirs, strict=False)):
            same(a, b, rtol, atol, f"{path}[{i}]")
        assert len(ours) == len(theirs), f"{path}: {ours} is not {theirs}"
    else:
        assert ours == theirs, path


def story(test=None, *, rtol=2e-5, atol=2e-6):
    """Run a test with both libraries and compare what it reports."""
    if test is None:
        return functools.partial(story, rtol=rtol, atol=atol)
    parameters = list(inspect.signature(test).parameters.values())[2:]

    def run(**arguments):
        reporters = []
        for library in (torch, vistorch):
            library.manual_seed(0)
            reporter = Reporter(library)
            test(library, reporter, **arguments)
            reporters.append(reporter)
        assert reporters[0].seen, "a story that reports nothing tests nothing"
        same(reporters[1].seen, reporters[0].seen, rtol, atol)

    run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
    run.__signature__ = inspect.Signature(parameters)
    run.pytestmark = getattr(test, "pytestmark", [])
    return run
