"""A whole walk through a backward pass as a record that steps both ways without a kernel.

A step is a node; what leaves receive belongs to the step that sends it. The state that travels:

{ "title", "text", "count": N steps, "at": how many are taken at first, "says": [notes for the whole],
  "nodes": [ { "id", "name": "PowBackward0", "op": "Pow", "label": a leaf's name or "", "leaf": bool,
      "module": path or "", "layer": the same as spoken, "shape", "dtype",
      "line": {"text", "file", "line", "cell"} or null,
      "forward": value or null (what forward computed here; a leaf's value),
      "formulas": [{"input", "latex" or null, "reads": [names]}],
      "to": [[input, id or null, output], ...] (null: not run in this pass),
      "saved": [{"name", "what": "input"|"output"|"constant", "value": value or null, "text", "bytes", "alias"}],
      "bytes": of memory that this node alone keeps } ],  ids count all nodes, leaves too, in the order of the pass
  "frames": [ { "node": id, "says": one line, "incoming": [value or null per output], "hooked": the same or null,
      "outgoing": [{"input", "to": id or null, "output", "gradient": value, "before": value or null,
                    "after": value, "sum": "0 + 4.5",
                    "numbers": null or {"text", "latex", "at": entry or null, "note", "parts": [Part]}}],
      "grads": [{"node": id, "before": value or null, "after": value or null, "sum": "0 + 4.5"}]  (into `.grad`),
      "done": [ids], "pending": [ids that begin to wait] } ],
  "start": [[leaf id, value or null], ...]  every `.grad` before the first step,
  "waits": [[id, output, value or null], ...]  what waits before the first step: the gradients a pass starts with,
  "values": [Value, ...] as vistorch/debug/values.py says; where a value is named above, it is its index here,
  "skipped": how many steps stand before the first frame (of a pass with more than 600 steps only a part is kept:
      `start` and `waits` are then those before that frame, and other nodes have "id", "name", "label", "leaf" alone),
  "done": [ids that ran before the first frame], "whole": whether frames run to the end of the pass,
  "failed": null or the sentence with which the pass ends early,
  "graph": null or the state of the pass's graph as vistorch/debug/graph/record.py says,
  "places": [number in that graph, or -1] by node id,
  "stops": [[frame, text], ...]  where breakpoints hold: a run stops before that frame }
Part = {"kind": "op"|"number", "text"} or {"kind": "array", "symbol": LaTeX, "role": "gradient"|"forward"|"result",
  "rows": [[text]] of a small array or null, "shape", "norm"}; parts stand beside each other as the formula does.

A frame says what changes: the state after k steps is that of `start` and frames 0 to k - 1 laid over each other. A
node is done, pending, or untouched; one that is untouched after the last frame is never reached.

Invariant: a record holds numbers, text and arrays; taking it leaves the stepper where it stood.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from .words import count


@dataclass
class StepsRecord:
    """What a pass did, step by step.

    Example:
        >>> import vistorch
        >>> from vistorch.debug import Stepper
        >>> from vistorch.debug.steps import record
        >>> x = vistorch.tensor(3.0, requires_grad=True)
        >>> steps = record(Stepper(x * 2, names={x: "x"}))
        >>> print(steps.text())
        backward(): 1 step, 1 leaf
        1 of 1  MulBackward0  1 · 2 = 2
                -> x.grad: 0 + 2
        >>> steps.count, steps.frames[0]["grads"][0]["sum"]
        (1, '0 + 2')
        >>> state = steps.wire()  # dicts, lists, numbers, text and arrays: what a page shows
        >>> after = state["frames"][0]["grads"][0]["after"]
        >>> state["nodes"][0]["name"], state["values"][after]["data"]
        ('MulBackward0', array(2., dtype=float32))
    """

    kind: ClassVar[str] = "steps"
    replaces_text: ClassVar[bool] = True  # a page of it says all that the text does

    title: str
    nodes: list[dict[str, Any]]
    frames: list[dict[str, Any]]
    start: list[list[Any]]
    values: list[dict[str, Any]] = field(default_factory=list)
    waits: list[list[Any]] = field(default_factory=list)
    at: int = 0
    says: list[str] = field(default_factory=list)
    failed: str | None = None
    graph: Any = None
    places: list[int] = field(default_factory=list)
    stops: list[list[Any]] = field(default_factory=list)
    skipped: int = 0
    total: int = 0
    whole: bool = True
    done: list[int] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many steps there are."""
        return self.total

    def text(self) -> str:
        """One line a step, what each leaf received, and where the pass stands if it has begun."""
        leaves = sum(n["leaf"] for n in self.nodes)
        numbers = self._numbers()
        last = max(numbers, default=0) if numbers and not self.skipped and self.whole else self.count
        out = [f"{self.title}: {count(last, 'step')}, {count(leaves, 'leaf', 'leaves')}"]
        wide = max((len(self._name(f["node"])) for f in self.frames), default=0)
        margin = len(str(last)) * 2 + 4
        for i, frame in enumerate(self.frames):
            if i == self.at > 0:
                reasons = list(dict.fromkeys(text for place, text in self.stops if place == i))
                out.append(f"{'':{margin}}  == stands here{': ' if reasons else ''}{', '.join(reasons)}")
            again = (
                i > 0 and numbers[i] == numbers[i - 1]
            )  # a view on the way to a parameter is no step of its own
            place, name = "" if again else f"{numbers[i]} of {last}", self._name(frame["node"])
            out.append(f"{place:>{margin}}  {name:<{wide}}  {frame['says']}".rstrip())
            for grad in frame["grads"]:
                out.append(f"{'':{margin}}  -> {self._name(grad['node'])}.grad: {grad['sum']}")
        if self.failed:
            out.append(self.failed)
        return "\n".join(out)

    def _numbers(self) -> list[int]:
        """The step that each frame belongs to, as the page counts them."""
        if self.graph is None or not self.places or self.skipped or not self.whole:
            return [self.skipped + i + 1 for i in range(len(self.frames))]
        found: list[int] = []
        for frame in self.frames:
            place = self.places[frame["node"]]
            rides = bool(found) and place >= 0 and bool(self.graph.nodes[place].chip)
            found.append((found[-1] if found else 0) + (not rides))
        return found

    def _name(self, number: int) -> str:
        node = self.nodes[number]
        return node["label"] or (f"leaf {number}" if node["leaf"] else node["name"])

    def wire(self) -> dict[str, Any]:
        """As it travels; see the top of this file."""
        state = {f.name: getattr(self, f.name) for f in fields(self)}
        state["graph"] = None if self.graph is None else {**self.graph.wire(), "text": ""}
        return {**state, "count": self.count, "text": self.text()}
