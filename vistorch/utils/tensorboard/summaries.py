"""From values to tensorboard's records.

Invariant: nothing here imports tensorboard by itself; what is needed of it is handed in.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...engine.core.tensor import Tensor


def protos(find: Callable[[str], Any]) -> SimpleNamespace:
    """The classes of tensorboard's records."""
    event, summary = find("compat.proto.event_pb2"), find("compat.proto.summary_pb2")
    tensor, shape = find("compat.proto.tensor_pb2"), find("compat.proto.tensor_shape_pb2")
    return SimpleNamespace(
        Event=event.Event,
        SessionLog=event.SessionLog,
        Summary=summary.Summary,
        Histogram=summary.HistogramProto,
        Metadata=summary.SummaryMetadata,
        Tensor=tensor.TensorProto,
        Shape=shape.TensorShapeProto,
    )


def array(value: Any) -> np.ndarray:
    """The numbers of a tensor, array or number."""
    if isinstance(value, Tensor):
        value = value.detach().cpu()
        value = (value.float() if str(value.dtype).endswith("bfloat16") else value).numpy()
    return np.asarray(value)


def number(value: Any) -> Any:
    """One number."""
    found = array(value)
    if found.size != 1:
        raise AssertionError("scalar should be 0D")
    return found.reshape(()).item()


def scalar(p: Any, tag: str, value: Any, new_style: bool = False, double_precision: bool = False) -> Any:
    """A number."""
    found = float(number(value))
    if not new_style:
        return p.Summary.Value(tag=tag, simple_value=found)
    data = (
        {"double_val": [found], "dtype": "DT_DOUBLE"}
        if double_precision
        else {
            "float_val": [found],
            "dtype": "DT_FLOAT",
        }
    )
    plugin = p.Metadata.PluginData(plugin_name="scalars")
    return p.Summary.Value(tag=tag, tensor=p.Tensor(**data), metadata=p.Metadata(plugin_data=plugin))


def _growing_edges() -> np.ndarray:
    """Edges that grow by a tenth, on both sides of zero."""
    steps = 1e-12 * 1.1 ** np.arange(math.ceil(math.log(1e32, 1.1)))
    return np.concatenate([-steps[::-1], [0.0], steps])


def histogram(p: Any, tag: str, values: Any, bins: Any, max_bins: int | None) -> Any:
    """How values are distributed."""
    found = array(values).astype(np.float64).ravel()
    if found.size == 0:
        raise ValueError("The input has no element.")
    edges = _growing_edges() if isinstance(bins, str) and bins == "tensorflow" else bins
    counts, limits = np.histogram(found, bins=edges)
    if max_bins is not None and len(counts) > max_bins:
        step = len(counts) // max_bins
        counts = np.add.reduceat(counts, np.arange(0, len(counts), step))
        limits = np.append(limits[:-1:step], limits[-1])
    full = np.nonzero(counts)[0]
    # One empty bin on the left keeps the first full one's lower edge.
    first, last = max(int(full[0]) - 1, -1) if full.size else -1, int(full[-1]) if full.size else -1
    kept = counts[max(first, 0) : last + 1]
    edges = limits[max(first, 0) + 1 : last + 2]
    if first < 0:
        kept, edges = np.append([0], kept), np.append(limits[:1], edges)
    record = p.Histogram(
        min=float(found.min()),
        max=float(found.max()),
        num=found.size,
        sum=float(found.sum()),
        sum_squares=float((found * found).sum()),
        bucket_limit=edges.tolist(),
        bucket=kept.astype(np.float64).tolist(),
    )
    return p.Summary.Value(tag=tag, histo=record)


def _arranged(values: np.ndarray, dataformats: str) -> np.ndarray:
    """Height, width and three or four channels; several pictures side by side."""
    order = dataformats.upper()
    if len(order) != values.ndim or len(set(order)) != len(order) or not set(order) <= set("NCHW"):
        raise AssertionError(
            "size of input tensor and input format are different. "
            f"tensor shape: {values.shape}, input_format: {dataformats}"
        )
    values = values.transpose([order.index(one) for one in "NCHW" if one in order])
    if "C" not in order:
        values = np.expand_dims(values, 1 if "N" in order else 0)
    if "N" in order:
        columns = min(len(values), 8)
        rows = math.ceil(len(values) / columns)
        grid = np.zeros((rows * columns, *values.shape[1:]), values.dtype)
        grid[: len(values)] = values
        _, c, h, w = values.shape
        values = (
            grid.reshape(rows, columns, c, h, w).transpose(2, 0, 3, 1, 4).reshape(c, rows * h, columns * w)
        )
    if values.shape[0] == 1:
        values = np.repeat(values, 3, 0)
    return values.transpose(1, 2, 0)


def image(p: Any, tag: str, values: Any, dataformats: str) -> Any:
    """A picture, as PNG."""
    from PIL import Image

    found = array(values)
    scale = 1 if found.dtype == np.uint8 else 255
    pixels = _arranged(found.astype(np.float32) * scale, dataformats).clip(0, 255).astype(np.uint8)
    height, width, channels = pixels.shape
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, format="PNG")
    picture = p.Summary.Image(
        height=height, width=width, colorspace=channels, encoded_image_string=file.getvalue()
    )
    return p.Summary.Value(tag=tag, image=picture)


def figures(many: list[Any]) -> np.ndarray:
    """Figures of matplotlib as pictures: number, height, width, channels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    pictures = []
    for figure in many:
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        pictures.append(np.asarray(canvas.buffer_rgba())[..., :3])
    return np.stack(pictures)


def text(p: Any, tag: str, words: str) -> Any:
    """A text."""
    plugin = p.Metadata.PluginData(plugin_name="text", content=b"")
    tensor = p.Tensor(
        dtype="DT_STRING",
        string_val=[str(words).encode("utf-8")],
        tensor_shape=p.Shape(dim=[p.Shape.Dim(size=1)]),
    )
    return p.Summary.Value(tag=f"{tag}/text_summary", metadata=p.Metadata(plugin_data=plugin), tensor=tensor)


def hparams(find: Callable[[str], Any], settings: dict[str, Any], results: dict[str, Any]) -> list[Any]:
    """The records that the tab HParams reads."""
    plugin = find("plugins.hparams.summary_v2")
    plain = {
        k: v if isinstance(v, bool | str) else float(number(v)) for k, v in settings.items() if v is not None
    }
    metrics = [plugin.Metric(name) for name in results]
    return [
        plugin.hparams_config_pb(hparams=[plugin.HParam(name) for name in plain], metrics=metrics),
        plugin.hparams_pb(plain),
    ]
