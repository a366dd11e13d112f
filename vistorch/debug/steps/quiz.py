"""Guess, then step: the questions of a pass one after the other, each marked when it is answered.

What the page of the stepper does with the mouse, for a program and for a terminal. Invariant: what is no answer is
not marked, and a question is marked once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .schema import Question
from .words import number, shape

NEAR = 0.02  # of the answer: how far off a number may be
NOTHING = 1e-9  # where the answer is 0
SIGNS = {"-": -1, "0": 0, "+": 1, "negative": -1, "zero": 0, "positive": 1, "minus": -1, "plus": 1}
WANTED = {
    "number": "a number, please: 0.25, -1/32, 3e-4",
    "sign": "a sign, please: -, 0 or +",
    "shape": "a shape, please: 32 x 120",
}


@dataclass
class Mark:
    """How a question was answered: `how` is "right", "wrong" or "skipped", `said` what was answered."""

    how: str
    said: str
    hint: bool = False


def read(kind: str, text: str) -> Any:
    """What an answer means: a float, a sign as -1, 0 or 1, a tuple of sizes; None where it is no answer.

    Args:
        kind: of the question.
        text: what was typed.

    Example:
        >>> from vistorch.debug.steps.quiz import read
        >>> read("number", "-1/32"), read("number", "−0.03"), read("shape", "(32, 120)"), read("sign", "+")
        (-0.03125, -0.03, (32, 120), 1)
    """
    text = text.strip().replace("−", "-").lower()
    if kind == "sign":
        if text in SIGNS:
            return SIGNS[text]
        value = _number(text)
        return None if value is None else (value > 0) - (value < 0)
    if kind == "shape":
        inside = re.sub(r"^(?:torch\.size|vistorch\.size)?\s*[(\[]+|[)\]]+$", "", text).strip()
        parts = [part for part in re.split(r"[\s,x×*]+", inside) if part]
        return tuple(int(p) for p in parts) if parts and all(p.isdecimal() for p in parts) else None
    return _number(text)


def _number(text: str) -> float | None:
    top, slash, low = text.partition("/")
    try:
        value = float(top) / float(low) if slash else float(top)
    except (ValueError, ZeroDivisionError):
        return None
    return value if math.isfinite(value) else None


def right(question: Question, answer: Any) -> bool:
    """Whether an answer is right: a number within 2 %, the sign, the whole shape.

    Args:
        question: what was asked.
        answer: what `read` made of the answer.
    """
    if question["kind"] == "shape":
        return list(answer) == list(question["shape"])
    wanted = question["answer"] or 0.0
    if question["kind"] == "sign":
        return answer == wanted
    return abs(answer - wanted) <= (NEAR * abs(wanted) if wanted else NOTHING)


def answer_of(question: Question) -> str:
    """The answer in words."""
    if question["kind"] == "shape":
        return shape(question["shape"])
    value = question["answer"] or 0.0
    if question["kind"] == "sign":
        return "negative" if value < 0 else "positive" if value > 0 else "zero"
    return number(value)


class Quiz:
    """The questions of a record of steps, in their order.

    Args:
        record: the record of a pass.

    Example:
        >>> import vistorch
        >>> from vistorch import vt
        >>> error = vistorch.tensor(-1.25, requires_grad=True)
        >>> quiz = vt.step(error**2, namespace={"error": error}, live="off").record.quiz()
        >>> print(quiz.text())
        step 1, PowBackward0: What gradient does error get?
          g      1      starts the pass
          error  -1.25  went in
        >>> print(quiz.answer("-2.5"))
        Right: -2.5.
          1 · 2 · (-1.25) = -2.5
          A power responds as its exponent times the power below: a square as twice the number.
        >>> quiz.score(), quiz.open
        ('1 of 1 right', None)
    """

    def __init__(self, record: Any) -> None:
        self.record = record
        self.questions: list[tuple[int, Question]] = [
            (i, frame["question"]) for i, frame in enumerate(record.frames) if frame.get("question")
        ]
        self.marks: list[Mark] = []
        self.hinted = False

    @property
    def open(self) -> Question | None:
        """The question that is asked now; None when all are answered."""
        return self.questions[len(self.marks)][1] if len(self.marks) < len(self.questions) else None

    def text(self) -> str:
        """The question, and what may be looked at for it."""
        question = self.open
        if question is None:
            return self.score()
        frame = self.questions[len(self.marks)][0]
        node = self.record.nodes[self.record.frames[frame]["node"]]
        rows = [
            (
                _plain(one["letter"]) if one["letter"] else one["name"],
                number(one["value"]) if one["value"] is not None else shape(one["shape"] or ()),
                one["text"],
            )
            for one in question["knows"]
        ]
        wide = [max((len(row[k]) for row in rows), default=0) for k in (0, 1)]
        lines = [f"  {a:<{wide[0]}}  {b:<{wide[1]}}  {c}" for a, b, c in rows]
        step = self.record.skipped + frame + 1
        return "\n".join([f"step {step}, {node['name']}: {question['asks']}", *lines])

    def hint(self) -> str:
        """The formula, in the names of the code; an answer after it counts half."""
        question = self.open
        if question is None:
            return ""
        self.hinted = True
        return f"hint: {question['hint']}"

    def answer(self, text: str) -> str:
        """Mark an answer and go on; what is none is asked for again, and nothing is marked."""
        question = self.open
        if question is None:
            return self.score()
        meant = read(question["kind"], text)
        if meant is None:
            return WANTED[question["kind"]]
        fine = right(question, meant)
        self._mark("right" if fine else "wrong", text.strip())
        first = (
            f"Right: {answer_of(question)}."
            if fine
            else f"You said {text.strip()}. It is {answer_of(question)}."
        )
        return self._with_reason(first, question)

    def skip(self) -> str:
        """Show the answer of a question and go on."""
        question = self.open
        if question is None:
            return self.score()
        self._mark("skipped", "")
        return self._with_reason(f"Skipped. It is {answer_of(question)}.", question)

    def _mark(self, how: str, said: str) -> None:
        self.marks.append(Mark(how, said, self.hinted))
        self.hinted = False

    def _with_reason(self, first: str, question: Question) -> str:
        return "\n".join([first, f"  {question['working']}", f"  {question['why']}"])

    def score(self) -> str:
        """How many answers were right, and how many hints were used."""
        answered = [mark for mark in self.marks if mark.how != "skipped"]
        fine = sum(mark.how == "right" for mark in answered)
        hints = sum(mark.hint for mark in self.marks)
        return f"{fine} of {len(answered)} right" + (f", {hints} hint{'s' * (hints > 1)}" if hints else "")

    def play(self, ask: Callable[[str], str] = input, say: Callable[[str], Any] = print) -> str:
        """Ask one question after the other: an empty line skips, h gives a hint, a asks no more.

        Args:
            ask: reads a line.
            say: writes one.
        """
        while self.open is not None:
            say(self.text())
            asked = len(self.marks)
            while len(self.marks) == asked:
                try:
                    line = ask("? ").strip()
                except (EOFError, KeyboardInterrupt):
                    return self.score()
                if line == "a":
                    return self.score()
                say(self.hint() if line == "h" else self.answer(line) if line else self.skip())
        return self.score()


def _plain(letter: str) -> str:
    return re.sub(r"\\(?:bar|hat|mathrm|text)?\s*|[{}]", "", letter)
