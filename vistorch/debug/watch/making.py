"""`watch`: the way to a run.

Invariant: making a run listens to nothing; entering it does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .budget import SHARE
from .run import Run
from .snapshots import BUDGET


def watch(
    model: Any = None,
    optimizer: Any = None,
    classes: Sequence[str] | None = None,
    *,
    steps: int | None = None,
    epochs: int | None = None,
    title: str = "",
    share: float = SHARE,
    snapshot_every: int | None = None,
    snapshot_bytes: int = BUDGET,
    poll: Callable[[], Any] | None = None,
    tell: Callable[[Run], Any] | None = None,
) -> Run:
    """Watch the training in a `with` block: the loop inside stays as it is.

    Loss, logits and labels, predictions and targets, tokens, steps, epochs, inputs and validations are seen by
    themselves; see `Run.observe` for a loss of one's own.

    Args:
        model: what is trained; without it, the module that is called and holds what the first optimizer changes.
        optimizer: whose steps count; without it, the first one that steps and holds parameters of the model.
        classes: the names of the classes; of a regression those of its outputs, of a language model its tokens.
        steps: how many steps there will be, if known: for the time that is left.
        epochs: how many epochs there will be, if known.
        title: what the run is called.
        share: of the loop's time, for what is read and looked at now and then; to hear of each step costs more.
        snapshot_every: steps between snapshots, 0 for none; by default about every 100, as they cost little enough.
        snapshot_bytes: what all snapshots may hold.
        poll: called at step boundaries, at most 30 times a second: looks for clicks.
        tell: called with the run when there is something new, at most 10 times a second: shows it.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.watch import watch
        >>> _ = vistorch.manual_seed(0)
        >>> net = vistorch.nn.Linear(2, 2)
        >>> opt = vistorch.optim.SGD(net.parameters(), lr=0.1)
        >>> x, y = vistorch.eye(2), vistorch.tensor([0, 1])
        >>> with watch(net, opt, classes=["cat", "dog"]) as run:
        ...     for _ in range(50):
        ...         opt.zero_grad()
        ...         vistorch.nn.functional.cross_entropy(net(x), y).backward()
        ...         opt.step()
        >>> print(run.text())
        Finished after step 50
        loss 0.258 (mean of 20), learning rate 0.1
        accuracy 93.0 % of the last 100
        <BLANKLINE>
        class  accuracy  right / seen  most often read as
        dog      86.0 %       43 / 50  cat (7)
        cat     100.0 %       50 / 50
    """
    return Run(
        model,
        optimizer,
        classes,
        steps=steps,
        epochs=epochs,
        title=title,
        share=share,
        snapshot_every=snapshot_every,
        snapshot_bytes=snapshot_bytes,
        poll=poll,
        tell=tell,
    )
