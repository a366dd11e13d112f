"""The record of a watched training, and how it reads.

The state that travels (arrays are numpy arrays; null: not known, shown as "–", never 0):

{ "version": number, "title",
  "head": { "status": "waiting"|"running"|"paused"|"finished"|"ended"|"stopped"|"interrupted"|"error",
    "say": sentence ("ended": over, with a loss or a weight that is not finite),
    "error": null or {"kind","message","module","where","line","say"}, "step", "steps", "epoch", "epochs",
    "epoch_steps", "batch", "speed": steps/s, "left": s, "seconds", "overhead": share, "cost": {kind: ms},
    "alarm": null or {"what","kind","name","step","epoch","last","over","now","word","say","cause","rest","way",
      "weights","snapshot","how"}, "autopause": whether an alarm pauses, null where it cannot, "tries": 1 + rewinds,
    "begins": [[epoch, the step after which it began, 1, or 0 where a rewind cut it]],
    "device": "cpu", "memory": [used, total] bytes or null, "parameters": n, "loss": mean of 20,
    "accuracy": share, "lr": [by group], "why": {command: why it cannot act now, "" where it can}, "says": [..] },
  "classes": [names], "several": each sample has several yes-or-no decisions (then no confusion),
  "loss": { "curve": Columns (1 row), "lr": Columns (a row a group) or null, "undone": [Columns] of rewound steps },
  "validation": [ {"step","epoch","loss","accuracy","samples"} ],
  "accuracy": { "window": Counts, "size": 1024, and the "first" and "last" step of
      its samples, "without": outputs that were not finite, no predictions, "without_from": their first step,
      "epoch": Counts or null, "validation": Counts or null, "before": Counts of the validation before, or null,
      "epochs": [ {"epoch","step","right": u32,"seen": u32} ] },
  "mistakes": { "whole": true, "after": number of the newest, "items": [ {"label","read","step","index": of the dataset
      or null,"where": "training"|"validation","top": [[class, score] x 3],"image": u8 (h, w, 1|3|4) or null} ] },
  "flow": { "names": [by parameter], "shapes", "columns": Columns (a row a parameter) or null, "now": f64,
      "there": u8, whether there was a gradient, "bounds": [below, above] which a norm is far from the others },
  "health": { "band": [1e-4, 1e-2], "window": 1024, "flag": 0.25, "layers": [ {"name","module": its class,
      "parameters": n,"ratio": newest,"mean": of 20,"low","high": of 100,"kind": ""|"rectifier"|"ends",
      "units": u8 levels 0 to 10,"dead": u8 mask,"saturated": u8 mask,"seen": samples,"state","cure"} ] },
  "filters": { "choices": [{"name","shape"}], "chosen", "step", "weight": {"codes": u8,"scale"} or null, "gradient" },
  "task": { "kind": "" (not known yet)|"classification"|"regression"|"language"|"loss" (targets are not known),
    "loss": what compares predictions and targets, "constant": the loss whose targets differ in no batch, or "",
    "values": {"window": Values or null,"validation": Values or null} or null, "tokens": the same of Tokens, or null },
  "findings": { "items": [ as in the record of a diagnosis, at most 3 ], "count": all, "withdrawn": how many,
    "rules": [{"name","title","looked"}] } (not in files of earlier versions),
  "log": [ {"number","step","what","from","to","effect","undone"} ], newest last
  "snapshots": { "steps": [..], "bytes", "budget" } }
Columns = {"width": steps a column, a power of two, "from": first column, "low","high","mean": f32 (rows, columns), NaN
  where nothing was, "bad": u8 how many were not finite}: column c holds steps c * width to (c + 1) * width - 1.
Counts = {"right": u32,"seen": u32 by class,"pairs": u16 (n, 2) (label, read),"counts": u32 (n,)} (no pairs with more
  than 1,000 classes).
Values = {"outputs": [names],"pooled": so many outputs taken for one, or 0,"shape": of a batch,"broadcast": prediction
  and target had different shapes,"echo": the target is the input,"size": at most,"n","bad": not finite,"scores":
  [{"n","r2","mae","rmse","bias","constant_mae","constant_rmse"}],"r2": mean,"predicted","target": f32 (outputs, n),
  "bins": u32 (outputs, 31) of prediction - target,"span": f64 (outputs, 2),"beyond": [..],"worst": [{"step","index",
  "error","predicted": [..],"target": [..]}]}. An R² is null where all targets are the same.
Tokens = {"vocabulary","length": positions,"shifted": the target is the input one later,"n","size","bad","loss": mean,
  "perplexity","accuracy": of the "looked" whose likeliest token was asked for,"position": f32 mean loss or null,
  "positions": u32 how many,"hard": [[token, mean loss, seen]],"pairs": [[target, read as, times]],"places": [{"step",
  "token","read": -2 where it was not asked for,"loss","position","before": [tokens]}],"names": {token: name}}.
A point of "validation" has "r2" or "perplexity" too where it is of values or tokens.

A delta (`Run.delta(since)`) has "version", "since", "head" and, of the others, the sections that changed since. In it
Columns replace what the page has from column "from" on (all of it where "width" differs or "from" is 0), "mistakes"
with "whole" false and "log" with "whole" false are added to what is there (`"log": {"whole", "items"}`), every other
section replaces the one before. A page that was away asks for delta(0): everything.

Invariant: `text` is stable: it holds no time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

from .record_file import read, save
from .schema import State


@dataclass
class WatchRecord:
    """A training, as it was known at one moment.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.watch import watch
        >>> net = vistorch.nn.Linear(2, 2)
        >>> optimizer = vistorch.optim.SGD(net.parameters(), lr=0.1)
        >>> with watch(net, optimizer, classes=["cat", "dog"]) as run:
        ...     loss = vistorch.nn.functional.cross_entropy(net(vistorch.eye(2)), vistorch.tensor([0, 1]))
        ...     loss.backward()
        ...     optimizer.step()
        >>> record = run.record()
        >>> record.kind, record.state["head"]["status"], record.state["head"]["step"]
        ('watch', 'finished', 1)
        >>> record.text().splitlines()[0]
        'Finished after step 1'
        >>> state = record.wire()  # dicts, lists, numbers, text and arrays: what a page shows
        >>> state["classes"], state["accuracy"]["window"]["seen"]
        (['cat', 'dog'], array([1, 1], dtype=uint32))
        >>> [axes.get_xlabel() for axes in record.figure().axes]  # `figure().savefig(path)` draws it
        ['step', 'accuracy, %']
    """

    kind: ClassVar[str] = "watch"
    replaces_text: ClassVar[bool] = True  # the panel says all that the text does

    state: dict[str, Any]
    said: str

    def text(self) -> str:
        """Status, loss and the table of classes."""
        return self.said

    def wire(self) -> State:
        """As it travels; `schema.py` has the types."""
        return cast("State", {**self.state, "text": self.said})

    def save(self, path: Any) -> None:
        """Write it to a file, which `vistorch.debug.watch.load` reads: a zip of JSON and arrays.

        Args:
            path: the file.

        Example:
            >>> import io
            >>> from vistorch.debug.watch import load, watch
            >>> record, file = watch(title="first").record(), io.BytesIO()  # or a path
            >>> record.save(file)
            >>> load(file).text() == record.text(), load(file).state["title"]
            (True, 'first')
        """
        save(self, path)

    def to_dataframe(self) -> Any:
        """Steps, losses and learning rates as a pandas DataFrame.

        Example:
            >>> from vistorch.debug.watch import watch
            >>> from vistorch.debug.watch.tables import columns_of
            >>> record = watch().record()
            >>> try:
            ...     table = record.to_dataframe()
            ... except ImportError:  # without pandas: its columns as a dict of arrays
            ...     table = columns_of(record.state)
            >>> list(table)[:4]
            ['step', 'loss', 'loss_min', 'loss_max']
        """
        from .tables import to_dataframe

        return to_dataframe(self.state)

    def figure(self) -> Any:
        """Loss and accuracy by class as a matplotlib Figure."""
        from .tables import figure

        return figure(self.state)

    def to_tensorboard(self, folder: Any) -> str:
        """Write losses, rates, accuracies and gradient norms to an event file for TensorBoard; gives its path.

        Args:
            folder: where; TensorBoard shows each folder as one run.

        Example:
            >>> import os
            >>> import tempfile
            >>> from vistorch.debug.watch import watch
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = watch().record().to_tensorboard(folder)
            ...     print(os.listdir(folder) == [os.path.basename(path)], path.rpartition(".vistorch.")[1:])
            True ('.vistorch.', '0')
        """
        from .tensorboard import write

        return write(self.state, folder)


def load(path: Any) -> WatchRecord:
    """Read a record that `Run.save` wrote.

    Args:
        path: a file name, or an open binary file.

    Raises:
        ValueError: it is not such a file; the sentence says what is wrong.

    Example:
        >>> import io
        >>> from vistorch.debug.watch import load, watch
        >>> file = io.BytesIO()
        >>> watch(title="first").save(file)
        >>> load(file).wire()["title"]
        'first'
    """
    return WatchRecord(*read(path))
