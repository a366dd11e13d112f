"""A whole walk through a backward pass as a record that steps both ways without a kernel.

A step is a node; what leaves receive belongs to the step that sends it.
A frame says what changes: the state after k steps is that of `start` and frames 0 to k - 1 laid over each other. A
node is done, pending, or untouched; one that is untouched after the last frame is never reached.

Invariant: a record holds numbers, text and arrays; taking it leaves the stepper where it stood.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, cast

from .quiz import Quiz
from .schema import State
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
    source: str = "vistorch"
    ask: bool = False
    held: bool = False

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
            question = frame["question"] if self.ask else None
            if question is not None:
                out.append(
                    f"{numbers[i]} of {last}".rjust(margin)
                    + f"  {self._name(frame['node']):<{wide}}  ? {question['asks']}"
                )
                continue
            place, name = "" if again else f"{numbers[i]} of {last}", self._name(frame["node"])
            out.append(f"{place:>{margin}}  {name:<{wide}}  {frame['says']}".rstrip())
            for grad in frame["grads"]:
                out.append(f"{'':{margin}}  -> {self._name(grad['node'])}.grad: {grad['sum']}")
        if self.failed:
            out.append(self.failed)
        return "\n".join(out)

    def quiz(self) -> Quiz:
        """The questions of the pass, to be answered one after the other.

        Example:
            >>> import vistorch
            >>> from vistorch import vt
            >>> x = vistorch.tensor(3.0, requires_grad=True)
            >>> quiz = vt.step(x * 2, namespace={"x": x}, live="off").record.quiz()
            >>> print(quiz.answer("2"))
            Right: 2.
              1 · 2 = 2
              In a product each factor responds as strongly as the other one is large.
        """
        return Quiz(self)

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

    def wire(self) -> State:
        """As it travels; `schema.py` says what is in it."""
        state = {f.name: getattr(self, f.name) for f in fields(self)}
        state["graph"] = None if self.graph is None else {**self.graph.wire(), "text": ""}
        return cast("State", {**state, "count": self.count, "text": self.text()})
