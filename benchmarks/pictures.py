"""The first picture of an array, everything included, beside treescope's page and matplotlib's `imshow`.

Both sides begin with the same numpy array or tensor and end with bytes that a notebook would store; a call returns
how many.
"""

import io
import warnings

import numpy as np

from benchmarks.rows import add

WIDE, HUGE = (1000, 1000), (3163, 3163)


def values(shape):
    """Normal numbers with a few that are not finite, as a training run that goes wrong makes them."""
    made = np.random.default_rng(0).standard_normal(shape, np.float32)
    made.flat[[5, 77]] = np.nan
    return made


def stored(bundle):
    """The bytes of a display in a saved notebook."""
    return sum(len(text) for text in bundle.values())


def whole(shape):
    """The tensor as the last value of a cell: text, picture and page."""

    def prepare(lib):
        from vistorch.debug.array import record
        from vistorch.widgets._frame.display import Display

        x = lib.from_numpy(values(shape))
        return lambda: stored(Display(record(x, name="x"))._repr_mimebundle_())

    return prepare


def picture(shape):
    """The picture alone."""

    def prepare(lib):
        from vistorch.debug.array import record
        from vistorch.widgets._frame.display import Display

        x = lib.from_numpy(values(shape))
        return lambda: len(Display(record(x, name="x")).png())

    return prepare


def treescope(shape):
    def prepare(lib):
        import treescope

        x = values(shape)
        return lambda: len(treescope.render_array(x)._repr_html_())

    return prepare


def imshow(shape):
    def prepare(lib):
        x = values(shape)
        return lambda: len(imshow_png(x))

    return prepare


def imshow_png(array):
    """Return the PNG that matplotlib's `imshow` makes of a 2-D numpy array at its usual size."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the first use may build a cache of fonts
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

    figure = Figure()
    FigureCanvasAgg(figure)
    figure.add_subplot().imshow(array)
    out = io.BytesIO()
    figure.savefig(out, format="png")
    return out.getvalue()


def recorded(shape):
    """The record alone, as a page gets it."""

    def prepare(lib):
        from vistorch.debug.array import record

        x = lib.from_numpy(values(shape))

        return lambda: record(x).wire()

    return prepare


add(
    "pictures",
    "1000x1000 beside treescope",
    whole(WIDE),
    base=treescope(WIDE),
    milliseconds=50,
    kilobytes=120,
)
add(
    "pictures",
    "1000x1000 to PNG beside imshow",
    picture(WIDE),
    base=imshow(WIDE),
    milliseconds=50,
    kilobytes=120,
)
add("pictures", "10^7 values beside imshow", whole(HUGE), base=imshow(HUGE), milliseconds=150, kilobytes=160)
add("pictures", "100x100 beside treescope", whole((100, 100)), base=treescope((100, 100)), kilobytes=160)
add("pictures", "record of 1000x1000 beside imshow", recorded(WIDE), base=imshow(WIDE), budget=1.0)
add("pictures", "record of 10^7 values beside imshow", recorded(HUGE), base=imshow(HUGE), budget=1.0)
