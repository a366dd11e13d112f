"""Event files for TensorBoard, written by tensorboard's own writer.

Invariant: the package tensorboard is asked for only when a writer is made; without it, that says what to install.
"""

from __future__ import annotations

import importlib
import os
import socket
import time
from datetime import datetime
from typing import Any

from ...engine.base.errors import not_built
from ...engine.base.warn_once import once
from . import summaries

__all__ = ["FileWriter", "SummaryWriter"]


def _tensorboard(name: str) -> Any:
    try:
        return importlib.import_module(f"tensorboard.{name}")
    except ImportError as missing:
        raise ImportError(
            "SummaryWriter needs the package tensorboard: pip install tensorboard."
        ) from missing


class FileWriter:
    """One event file.

    Args:
        log_dir: the folder for it.
        max_queue: how many events wait before they are written.
        flush_secs: how long they wait at most.
        filename_suffix: added to the file's name.

    Example:
        >>> import contextlib, os, tempfile
        >>> from vistorch.utils.tensorboard import FileWriter
        >>> with contextlib.suppress(ImportError), tempfile.TemporaryDirectory() as folder:  # no tensorboard
        ...     writer = FileWriter(folder)
        ...     value = writer.protos.Summary.Value(tag="loss", simple_value=0.5)
        ...     writer.add_summary(writer.protos.Summary(value=[value]), global_step=1)
        ...     writer.add_event(writer.protos.Event(summary=writer.protos.Summary(value=[value])), step=2)
        ...     writer.flush()
        ...     writer.close()
        ...     assert os.listdir(writer.get_logdir())[0].startswith("events.out")
    """

    def __init__(
        self, log_dir: Any, max_queue: int = 10, flush_secs: int = 120, filename_suffix: str = ""
    ) -> None:
        self.protos = summaries.protos(_tensorboard)
        writer = _tensorboard("summary.writer.event_file_writer").EventFileWriter
        self.event_writer = writer(str(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        """The folder."""
        return self.event_writer.get_logdir()

    def add_event(self, event: Any, step: int | None = None, walltime: float | None = None) -> None:
        """Write an event."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(
        self, summary: Any, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Write a summary."""
        self.add_event(self.protos.Event(summary=summary), global_step, walltime)

    def flush(self) -> None:
        """Write what waits."""
        self.event_writer.flush()

    def close(self) -> None:
        """Write what waits, and no more."""
        self.event_writer.close()


class SummaryWriter:
    """Writes numbers, pictures and texts of a run for TensorBoard.

    Args:
        log_dir: the folder; `runs/<time>_<host><comment>` if not given.
        comment: added to that name.
        purge_step: what was written at and after this step is to be forgotten.
        max_queue: how many events wait before they are written.
        flush_secs: how long they wait at most.
        filename_suffix: added to the file's name.

    Example:
        >>> import contextlib, os, tempfile, vistorch
        >>> from vistorch.utils.tensorboard import SummaryWriter
        >>> def write_all(writer):
        ...     for step in range(3):
        ...         writer.add_scalar("loss", 0.5**step, step)
        ...         writer.add_scalars("both", {"train": 0.5**step, "test": 0.6**step}, step)
        ...     writer.add_histogram("weight", vistorch.nn.Linear(10, 10).weight)
        ...     writer.add_image("picture", vistorch.rand(3, 8, 8))
        ...     writer.add_images("pictures", vistorch.rand(4, 3, 8, 8))
        ...     writer.add_text("remark", "it **learns**")
        ...     writer.add_hparams({"lr": 0.1}, {"loss": 0.25}, run_name="best")
        ...     writer.flush()  # now TensorBoard sees them
        >>> with contextlib.suppress(ImportError), tempfile.TemporaryDirectory() as folder:  # no tensorboard
        ...     with SummaryWriter(folder) as writer:  # or writer.close() at the end
        ...         write_all(writer)
        ...     assert {"best", "both_test", "both_train"} < set(os.listdir(writer.get_logdir()))
    """

    def __init__(
        self,
        log_dir: Any = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            now = datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{now}_{socket.gethostname()}{comment}")
        self.log_dir = log_dir
        self._options = max_queue, flush_secs, filename_suffix
        self.file_writer = FileWriter(log_dir, *self._options)
        self.all_writers: dict[str, FileWriter] = {self.file_writer.get_logdir(): self.file_writer}
        if purge_step is not None:
            protos = self.file_writer.protos
            self.file_writer.add_event(protos.Event(file_version="brain.Event:2"), purge_step)
            start = protos.SessionLog(status=protos.SessionLog.START)
            self.file_writer.add_event(protos.Event(session_log=start), purge_step)

    def get_logdir(self) -> str:
        """The folder."""
        return self.log_dir

    def _add(self, value: Any, step: Any, walltime: Any, writer: FileWriter | None = None) -> None:
        writer = writer or self.file_writer
        step = None if step is None else summaries.number(step)
        writer.add_summary(writer.protos.Summary(value=[value]), step, walltime)

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: Any = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """A number.

        Args:
            tag: its name.
            scalar_value: a number, or a tensor of one.
            global_step: when.
            walltime: seconds since the epoch; now, if not given.
            new_style: as a tensor of the newer plugin.
            double_precision: with 64 bits, if `new_style`.
        """
        value = summaries.scalar(self.file_writer.protos, tag, scalar_value, new_style, double_precision)
        self._add(value, global_step, walltime)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: dict[str, Any],
        global_step: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Several numbers for one chart: each in an event file of its own below the folder."""
        for tag, scalar_value in tag_scalar_dict.items():
            folder = os.path.join(self.file_writer.get_logdir(), f"{main_tag.replace('/', '_')}_{tag}")
            if folder not in self.all_writers:
                self.all_writers[folder] = FileWriter(folder, *self._options)
            writer = self.all_writers[folder]
            value = summaries.scalar(writer.protos, main_tag, scalar_value)
            self._add(value, global_step, walltime, writer)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: Any = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """How values are distributed.

        Args:
            tag: its name.
            values: a tensor or array.
            global_step: when.
            bins: "tensorflow" for edges that grow by a tenth, or what `numpy.histogram` takes.
            walltime: seconds since the epoch; now, if not given.
            max_bins: join bins down to about this many.
        """
        value = summaries.histogram(self.file_writer.protos, tag, values, bins, max_bins)
        self._add(value, global_step, walltime)

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """A picture.

        Args:
            tag: its name.
            img_tensor: bytes from 0 to 255, or floats from 0 to 1.
            global_step: when.
            walltime: seconds since the epoch; now, if not given.
            dataformats: which dimension is which: "CHW", "HWC", "HW", or "NCHW" for several side by side.
        """
        value = summaries.image(self.file_writer.protos, tag, img_tensor, dataformats)
        self._add(value, global_step, walltime)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Several pictures side by side."""
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_figure(
        self,
        tag: str,
        figure: Any,
        global_step: Any = None,
        close: bool = True,
        walltime: float | None = None,
    ) -> None:
        """A figure of matplotlib, or several.

        Args:
            tag: its name.
            figure: the figure, or a list of them.
            global_step: when.
            close: whether to close it.
            walltime: seconds since the epoch; now, if not given.

        Example:
            >>> import contextlib, tempfile
            >>> from vistorch.utils.tensorboard import SummaryWriter
            >>> with contextlib.suppress(ImportError), tempfile.TemporaryDirectory() as folder:
            ...     from matplotlib.figure import Figure
            ...     figure = Figure(figsize=(2, 1))
            ...     _ = figure.subplots().plot([1, 2, 4])
            ...     with SummaryWriter(folder) as writer:
            ...         writer.add_figure("curve", figure)
        """
        figures = figure if isinstance(figure, list) else [figure]
        pictures = summaries.figures(figures)
        if close:
            pyplot = importlib.import_module("matplotlib.pyplot")
            for one in figures:
                pyplot.close(one)
        self.add_image(tag, pictures, global_step, walltime, "NHWC")

    def add_text(
        self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None
    ) -> None:
        """A text, in Markdown."""
        self._add(summaries.text(self.file_writer.protos, tag, text_string), global_step, walltime)

    def add_hparams(
        self,
        hparam_dict: dict[str, Any],
        metric_dict: dict[str, Any],
        hparam_domain_discrete: Any = None,
        run_name: str | None = None,
        global_step: Any = None,
    ) -> None:
        """Settings of a run and what came of them, for the tab HParams.

        Args:
            hparam_dict: the settings.
            metric_dict: the results.
            hparam_domain_discrete: not used.
            run_name: the folder for it; the time, if not given.
            global_step: when.
        """
        if type(hparam_dict) is not dict or type(metric_dict) is not dict:
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
        folder = os.path.join(self.file_writer.get_logdir(), run_name or str(time.time()))
        writer = FileWriter(folder, *self._options)
        for summary in summaries.hparams(_tensorboard, hparam_dict, metric_dict):
            writer.add_summary(summary)
        for tag, scalar_value in metric_dict.items():
            self._add(summaries.scalar(writer.protos, tag, scalar_value), global_step, None, writer)
        writer.close()

    def add_graph(self, model: Any, input_to_model: Any = None, *args: Any, **options: Any) -> None:
        """Nothing is written: vistorch does not trace modules; says so once.

        Example:
            >>> import contextlib, tempfile, vistorch, warnings
            >>> from vistorch.utils.tensorboard import SummaryWriter
            >>> with contextlib.suppress(ImportError), tempfile.TemporaryDirectory() as folder:
            ...     with SummaryWriter(folder) as writer, warnings.catch_warnings():
            ...         warnings.simplefilter("ignore")  # it says so once
            ...         assert writer.add_graph(vistorch.nn.Linear(2, 3), vistorch.ones(2)) is None
        """
        once("add_graph writes nothing: vistorch does not trace modules.")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("add_"):
            raise not_built(f"SummaryWriter.{name}", "write scalars, histograms, images, figures or text.")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def flush(self) -> None:
        """Write what waits."""
        for writer in self.all_writers.values():
            writer.flush()

    def close(self) -> None:
        """Write what waits, and no more."""
        for writer in self.all_writers.values():
            writer.close()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
