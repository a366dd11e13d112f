"""`%%vt watch`: a training cell that is watched as it runs, with controls.

In a notebook a run shows the live panel and leaves its last state below it; elsewhere a line of text and a table.

Invariant: what shows a run never ends it: where no panel can be shown the loop runs all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...debug.watch import Line, Run, StopTraining
from ...debug.watch.budget import SHARE
from ...debug.watch.snapshots import BUDGET
from .._frame.command import EXPRESSION, Asked, Command, Parser
from .._frame.defaults import SWITCH, defaults
from .._frame.run_cell import finish, run
from .._frame.shell import has_front_end, shell_of_user
from .._frame.user_error import Refusal, is_number
from ..graph.command import leaves
from .loops import lengths

NAME = "watch"


class Watched(Run):
    """A run that shows itself: in a notebook as a panel, elsewhere as a line."""

    name = NAME
    asked_live: Any = None
    panel: Any = None
    ended_by: BaseException | None = None  # what the shell kept to itself

    def __enter__(self) -> Watched:
        """Start to watch, and show it."""
        super().__enter__()
        shell = shell_of_user()
        if shell is not None:
            self.names = lambda: leaves(shell.user_ns)
        self.panel = Panel(self) if has_front_end(shell_of_user()) else Line()
        self.notify = self.panel
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        """Stop watching; the shell has shown what a cell ended with, and does not raise it."""
        if error is None and self.ended_by is not None:
            error, self.ended_by = self.ended_by, None
            super().__exit__(type(error), error, error.__traceback__)
            return False
        return super().__exit__(kind, error, trace)

    @property
    def display(self) -> Any:
        """What shows the run as it is now, to be written into a file, too."""
        from .._frame.display import Display

        return Display(self.record(), self.name)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        return self.display._repr_mimebundle_(include, exclude)


class Panel:
    """What shows a run in a notebook: the live panel while it goes on, and a display that stays.

    Args:
        run: the run, which is open.
    """

    def __init__(self, run: Watched) -> None:
        self.view, self.kept, self.done = None, None, False
        live = defaults.live if run.asked_live is None else run.asked_live
        if live in ("off", False):
            return
        try:
            from IPython.display import display

            from .._frame.display import Display
            from .live import WatchView, hindrance
        except ImportError as missing:
            print(
                f"There is no live panel here: {missing}. `%vt doctor` says how to get it; the run goes on."
            )
            return
        if not hindrance():
            from ..steps.step_in import open_stepper

            # Before the record that the page begins with: it says what the run can be asked for.
            run.stepper, run.controls.shows = open_stepper, _show_trace
            run.alarms.ask, run.alarms.pauses = self._ask, True
        try:
            self.view = WatchView(Display(run.record(), run.name), run)
        except FileNotFoundError:  # no page was built
            run.stepper, run.controls.shows, run.alarms.ask, run.alarms.pauses = None, None, None, False
            return
        run.poll = self.view.poll
        display(self.view)

    def _ask(self) -> None:
        """Ask the pages whether one is open."""
        if self.view is not None:
            self.view.ask()

    def __call__(self, run: Watched) -> None:
        """Show what is new; after the run, what stays.

        Args:
            run: the run.
        """
        if self.view is not None:
            self.view.notify(run)
        if run.open or self.done:
            return
        self.done = True
        from IPython.display import display

        from .._frame.kept import Kept
        from .._frame.output import keep

        self.kept = Kept(run.record(), run.name)
        keep(self.kept)
        display(self.kept)


def _show_trace(record: Any) -> None:
    """Show what a step was, op by op, below the panel."""
    from IPython.display import display

    from .._frame.display import Display

    display(Display(record, "trace"))


def watch(
    model: Any = None,
    optimizer: Any = None,
    *,
    classes: Any = None,
    steps: int | None = None,
    epochs: int | None = None,
    snapshot_every: int | None = None,
    snapshot_bytes: int = BUDGET,
    share: float = SHARE,
    title: str = "",
    name: str = NAME,
    live: str | bool | None = None,
    findings: str | bool = "on",
    ranks: bool = False,
) -> Watched:
    """Watch the training in a `with` block: loss, accuracy by class, gradients and units, with controls.

    The loop inside stays as it is. A notebook shows the panel while it runs and keeps its last state; a terminal shows
    a line, and a table at the end.

    Args:
        model: what is trained; found by itself if not given.
        optimizer: whose steps count; the first that changes the model if not given.
        classes: names of the classes: a list, a dict by number, or a dataset that has `classes`; those of the data
            that is trained on if not given. Of a regression those of its outputs, of a language model its tokens.
        steps: how many steps there will be, for the time that is left.
        epochs: how many epochs there will be, for the same.
        snapshot_every: steps between snapshots to rewind to, 0 for none; about 100 if not given.
        snapshot_bytes: what all snapshots may hold.
        share: at most this share of the loop's time goes into watching.
        title: what the run is called.
        name: what `vt.export` finds it by; for `%%vt watch` also the variable that holds the run.
        live: "off" shows nothing until the end.
        findings: "off" has no rule look on.
        ranks: for `%%vt watch --ranks` alone: the cell runs on the ranks of `%vt ranks`, which one panel shows.

    Returns:
        The run: a context; after it, its numbers (`run.accuracy()`, `run.to_dataframe()`, `run.save(path)`).

    Example:
        >>> import vistorch
        >>> from vistorch import vt
        >>> vt.watch(vistorch.nn.Linear(2, 2), classes=["cat", "dog"])
        <Run: waiting, step 0>
    """
    if ranks:
        raise Refusal("ranks is for a cell: type `%%vt watch --ranks` on its first line, after `%vt ranks 2`")
    if isinstance(model, type):
        raise Refusal(
            f"watch takes a module, not the class {model.__name__}: give what {model.__name__}(...) made"
        )
    if model is not None and not hasattr(model, "named_parameters"):
        raise Refusal(f"watch takes a module, not {type(model).__name__}: leave it out to have it found")
    if optimizer is not None and not hasattr(optimizer, "param_groups"):
        raise Refusal(
            f"watch takes an optimizer, not {type(optimizer).__name__}: leave it out to have it found"
        )
    for word, number, least in (
        ("steps", steps, 1),
        ("epochs", epochs, 1),
        ("snapshot_every", snapshot_every, 0),
        ("snapshot_bytes", snapshot_bytes, 0),
    ):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < least):
            option = word.replace("_", "-")
            raise Refusal(f"{option} is a whole number from {least} on, not {number!r}: type --{option} 100")
    if not (is_number(share) and 0 < share <= 1):
        raise Refusal(f"share is a part of the loop's time from 0 to 1, not {share!r}: type --share 0.05")
    if live is not None and not (isinstance(live, bool) or (isinstance(live, str) and live in SWITCH)):
        raise Refusal(f"live does not take {live!r}: type --live auto or --live off")
    if not (isinstance(findings, bool) or (isinstance(findings, str) and findings in SWITCH)):
        raise Refusal(f"findings does not take {findings!r}: type --findings on or --findings off")
    made = Watched(
        model,
        optimizer,
        _names(classes),
        steps=steps,
        epochs=epochs,
        title=str(title),
        share=share,
        snapshot_every=snapshot_every,
        snapshot_bytes=snapshot_bytes,
        findings=findings not in ("off", False),
    )
    made.name, made.asked_live = name, live
    return made


def _names(classes: Any) -> list[str] | None:
    """The names of the classes, from whatever holds them."""
    if classes is None:
        return None
    for _ in range(8):  # a loader of a part of a dataset
        inner = getattr(classes, "classes", None)
        classes = inner if inner is not None else getattr(classes, "dataset", classes)
    if isinstance(classes, Mapping):
        names = [str(classes[key]) for key in sorted(classes)] if all(map(_whole, classes)) else []
        if not names and all(map(_whole, classes.values())):  # class_to_idx
            names = sorted(map(str, classes), key=lambda key: classes[key])
    elif isinstance(classes, Sequence) and not isinstance(classes, (str, bytes)):
        names = [str(one) for one in classes]
    else:
        names = []
    if not names:
        raise Refusal(
            f"classes is a list of names, or a dataset that has some, not {type(classes).__name__}: "
            "type --classes \"['cat', 'dog']\""
        )
    return names


def _whole(key: Any) -> bool:
    return isinstance(key, int) and not isinstance(key, bool)


def _cell(cell: str, asked: Asked, **options: Any) -> Any:
    """Run a cell and show its training, whatever ends it."""
    name = options["name"]
    if options["ranks"]:
        from ..ranks.watch import watch_on_ranks

        given = {one for one in ("model", "optimizer", "classes") if options[one] is not None}
        if given:
            raise Refusal(f"--ranks takes no {', no '.join(sorted(given))}: type `%%vt watch --ranks`")
        return watch_on_ranks(cell, asked.shell, name, options["title"], options["live"])
    if name != NAME and not name.isidentifier():
        raise Refusal(f"--name is also the variable that holds the run, and {name!r} cannot be one")
    watched = watch(**options)
    if asked.shell is not None and name != NAME:
        asked.shell.user_ns[name] = watched
    if asked.shell is not None:
        watched.pace.guess(*lengths(cell, asked.shell.user_ns))
    error: BaseException | None = None

    def stopped(error: BaseException | None) -> bool:
        return isinstance(error, StopTraining) and error.run is watched

    with watched:
        error = run(cell, asked.shell, "%%vt watch", stopped)
        watched.ended_by = error
    return finish(None, None if stopped(error) else error, asked.shell)


def _arguments(parser: Parser) -> None:
    parser.takes(
        "model", "what is trained; found by itself if not given", kind=EXPRESSION, nargs="?", metavar="MODEL"
    )
    parser.takes("optimizer", "whose steps count", kind=EXPRESSION, nargs="?", metavar="OPTIMIZER")
    parser.takes(
        "--classes",
        "names of the classes: a list, or a dataset that has some",
        kind=EXPRESSION,
        metavar="EXPRESSION",
    )
    parser.takes("--steps", "how many steps there will be", type=int, metavar="NUMBER")
    parser.takes("--epochs", "how many epochs there will be", type=int, metavar="NUMBER")
    parser.takes(
        "--snapshot-every", "steps between snapshots to rewind to; 0 for none", type=int, metavar="STEPS"
    )
    parser.takes("--snapshot-bytes", "what all snapshots may hold", type=int, metavar="BYTES", default=BUDGET)
    parser.takes(
        "--share", "of the loop's time that watching may take", type=float, metavar="SHARE", default=SHARE
    )
    parser.takes("--title", "what the run is called", metavar="TEXT", default="")
    parser.takes(
        "--name", "the variable that holds the run, and its name for export", metavar="NAME", default=NAME
    )
    parser.takes("--findings", "off has no rule look on now and then", choices=SWITCH, default="on")
    parser.takes("--ranks", "run the cell on the ranks of `%%vt ranks`, in one panel", action="store_true")
    parser.takes("--live", "off shows nothing until the end", choices=SWITCH)


COMMANDS = (
    Command(
        name="watch",
        summary="Run a training cell, watch it live, act on it",
        function=watch,
        cell=_cell,
        only_cell=True,
        arguments=_arguments,
        examples=(
            ("watch", "the training loop below it stays as it is"),
            ("watch --epochs 2", "it also says how much time is left"),
            ("watch --classes ['cat','dog']", "with names of one's own"),
            ("watch model --name run", "of this one; then run.accuracy()"),
            ("watch --ranks", "on all ranks: who waits for whom"),
        ),
        about="a training run, live: loss, accuracy, gradients; pause, step, change the learning rate",
        rank=70,
    ),
)
