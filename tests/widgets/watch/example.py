"""Records of training runs: a classifier, a regression, a language model, one that has not begun."""

from tests.debug.watch import test_language, test_regression
from tests.debug.watch.loops import small_training
from vistorch.debug.watch import watch


def classes():
    """A small classifier."""
    net, opt, loop = small_training()
    with watch(net, opt, classes=["<cat>", "dog & co", "bird"], title="blobs") as run:
        loop(30)
    return run.record()


EXAMPLES = {
    "classes": classes,
    "regression": lambda: test_regression.trained().record(),
    "language": lambda: test_language.trained().record(),
    "waiting": lambda: watch().record(),
}
