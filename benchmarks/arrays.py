"""What it costs to look at an array: its record, beside a picture of it by matplotlib.

Invariant: both sides of a row look at the same values, and leave nothing behind.
"""

import io
import warnings

from benchmarks.rows import add


def values(lib, *shape):
    """Normal values, as a tensor."""
    return lib.randn(*shape)


def imshow_png(array):
    """Return the PNG that matplotlib's `imshow` makes of a 2-D numpy array at its usual size."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the first use may build a cache of fonts
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

    figure = Figure()
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    figure.colorbar(axes.imshow(array))
    out = io.BytesIO()
    figure.savefig(out, format="png")
    return out.getvalue()


def recorded(*shape):
    """The whole record, as the page gets it."""

    def prepare(lib):
        from vistorch.debug.array import record

        x = values(lib, *shape)
        return lambda: record(x).wire()

    return prepare


def pictured(*shape):
    """The same array by matplotlib."""

    def prepare(lib):
        array = values(lib, *shape).numpy()
        return lambda: imshow_png(array)

    return prepare


for name, shape in (("100x100", (100, 100)), ("1000x1000", (1000, 1000)), ("ten million", (3163, 3163))):
    add(
        "arrays",
        f"record of {name}, beside imshow to PNG",
        recorded(*shape),
        base=pictured(*shape),
        budget=1.0,
    )
