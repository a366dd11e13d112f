"""Where a line of a random program may raise in one library only, each with its reason and a program that shows it.

Invariant: an excuse covers one line, which is then left out; everything else is still compared.
"""

import re
from dataclasses import dataclass

ENDING = re.compile(r"backward\(|autograd\.grad\(")
PASS = ENDING.pattern
# `x.data = ` of another shape
OTHER_DATA = r"\w+\.data = \w+\.data\."


@dataclass(frozen=True)
class Excuse:
    """A line at which one library raises and the other does not.

    Args:
        verdict: which of the two raises, "torch refuses" or "refused here".
        reason: why that is all right, in one sentence.
        said: what the error says.
        line: what the line looks like at which it is raised.
        needs: what some line of the program looks like.
        example: the lines of a program.
    """

    verdict: str
    reason: str
    said: str
    line: str
    needs: str
    example: str

    def covers(self, lines: list[str], at: int, verdict: str, said: str) -> bool:
        """Whether this excuses the error at a line of a program."""
        return (
            verdict == self.verdict
            and re.search(self.said, said) is not None
            and re.search(self.line, lines[at]) is not None
            and any(re.search(self.needs, line) for line in lines)
        )


EXCUSES = (
    Excuse(
        "torch refuses",
        "torch loses the history of a tensor that is detached in place after it was saved; here the node keeps it",
        r"has been detached in-place",
        PASS,
        r"detach_\(",
        """a = L.tensor([0.5, 1.5], dtype=L.float64, requires_grad=True)
b = a * 2
c = b.sin()
b.detach_()
c.sum().backward()""",
    ),
    Excuse(
        "torch refuses",
        "the backward pass of a masked write to an expanded tensor writes to expanded memory in torch",
        r"more than one element of the written-to tensor",
        PASS,
        r"expand\(",
        """a = L.tensor([0.5, 1.5], dtype=L.float64, requires_grad=True)
b = (a * 2).expand(2, 2)
b[b > 2.0] = 0.1
b.sum().backward()""",
    ),
    Excuse(
        "torch refuses",
        "torch calls a hook of one of several outputs with None where it got no gradient; here it is not called",
        r"unsupported operand type\(s\) for .: 'NoneType'",
        PASS,
        r"register_hook\(",
        """a = L.tensor([[0.5], [1.5]], dtype=L.float64, requires_grad=True)
b, c = (a * 2).unbind(0)
b.register_hook(lambda g: g * 2)
c.sum().backward()""",
    ),
    Excuse(
        "torch refuses",
        "where a leaf got other data of another shape, torch's older graphs still know the former shape",
        r"invalid gradient at index|variable\.sizes\(\) == new_grad\.sizes\(\)|doesn't match the broadcast shape",
        PASS,
        OTHER_DATA,
        """a = L.tensor([[0.5, 1.5]], dtype=L.float64, requires_grad=True)
b = a * 2
a.grad = None; a.data = a.data.t()
(a * a).sum().backward()""",
    ),
    Excuse(
        "refused here",
        "a gradient for the former shape of a leaf, which happens to broadcast to what its new shape has",
        r"had shape \[.*\] when the graph was made|the tensor got another shape after the forward pass",
        PASS,
        OTHER_DATA,
        """a = L.tensor([[0.5], [1.5]], dtype=L.float64, requires_grad=True)
b = a * 2
a.grad = None; a.data = a.data.sum()
b.sum().backward()""",
    ),
    Excuse(
        "torch refuses",
        "torch's lerp with a complex weight has no gradient for real ends",
        r"Expected isFloatingType\(grad\.scalar_type\(\)\)",
        PASS,
        r"L\.lerp\(.*j",
        """a = L.tensor(0.5, dtype=L.float64, requires_grad=True)
b = L.lerp(a, a * 2, L.tensor(0.3 + 0.5j, dtype=L.complex128)).abs()
b.backward()""",
    ),
    Excuse(
        "torch refuses",
        "torch refuses a write by where the operands begin in memory; here all operands are read before the write",
        r"some elements of the input tensor and the written-to tensor refer to a single memory location",
        r"\] = |out=|_\(",
        r"",
        """a = L.tensor([[0.5]], dtype=L.float64)
b = a @ a.t()
b[0] = b""",
    ),
    Excuse(
        "torch refuses",
        "torch's own words for a fault of its own, as where a reshaped tensor that retains its gradient is written",
        r"INTERNAL ASSERT FAILED",
        r"",
        r"",
        """a = L.tensor([0.5, 1.5], dtype=L.float64, requires_grad=True)
b = a * 2
b.retain_grad()
b.unsqueeze_(0)
b.div_(2)""",
    ),
    Excuse(
        "torch refuses",
        "torch saves values of a view made in no_grad that no gradient needs, frees them, and asks for their history",
        r"through the graph a second time|(A view|which) was created in no_grad mode and its|modified by an inplace op",
        PASS,
        r"with L\.no_grad\(\): .*\w = ",
        """a = L.tensor([0.5, 1.5], dtype=L.float64, requires_grad=True)
with L.no_grad(): b = a.view(-1)
c = b.sin()
c.sum().backward(retain_graph=True)
c.sum().backward()
c.sum().backward()""",
    ),
    Excuse(
        "torch refuses",
        "torch does the same with a view that is older than its base's wish for a gradient, and has no history either",
        r"was created in no_grad mode and its|modified by an inplace operation",
        PASS,
        r"\w\.requires_grad_\(\)",
        """a = L.tensor([0.5, 1.5], dtype=L.float64)
b = a.view(-1)
a.requires_grad_()
c = b.sigmoid()
c.mul_(2)
(c.sum() + a.sum()).backward()""",
    ),
    Excuse(
        "refused here",
        "torch copies the elements of an expanded tensor to themselves, and raises in the backward pass of that",
        r"more than one element of the written-to tensor",
        r"copy_\(",
        r"expand\(",
        """a = L.tensor([0.5, 1.5], dtype=L.float64, requires_grad=True)
b = (a * 2).expand(2, 2)
b.copy_(b.data)""",
    ),
    Excuse(
        "torch refuses",
        "torch's accumulation looks at a leaf that became a result in the meantime",
        r"leaf variable has been moved into the graph interior",
        PASS,
        r"requires_grad_\(",
        """a = L.tensor(0.5, dtype=L.float64)
b = a.view_as(a)
b.requires_grad_()
a.mul_(b)
a.backward()""",
    ),
    Excuse(
        "torch refuses",
        "a view whose base became a result since is written after its `grad_fn` was read, as comparing it does here",
        r"^a leaf Variable that requires grad is being used in an in-place operation",
        r"_\(|\] = ",
        r"",
        """a = L.tensor([[0.5, 1.5]], dtype=L.float64)
b = a[0]
a[0:1] = L.tensor([[2.5, 3.5]], dtype=L.float64, requires_grad=True)
b.masked_fill_(b < 0, 0.2)""",
    ),
    Excuse(
        "torch refuses",
        "func works on a stand-in of an inference tensor that it is given, which may be saved",
        r"Inference tensors cannot be saved for backward",
        r"L\.func\.",
        r"with L\.inference_mode\(\): ",
        """a = L.tensor([0.5, 1.5], dtype=L.float64, requires_grad=True)
with L.inference_mode(): b = a * 2
c = L.func.grad(lambda v: (v * v * a).sum())(b)""",
    ),
    Excuse(
        "refused here",
        "a function given to func records what it does, also to views that were made or written in no_grad around it",
        r"is a view and its base or|A view was created in no_grad mode and its|tensors cannot be saved for backward",
        r"L\.func\.",
        r"with L\.(no_grad|inference_mode)\(\): ",
        """a = L.tensor([[0.5, 1.5], [2.5, 3.5]], dtype=L.float64, requires_grad=True)
b, c = (a * 2).unbind(0)
with L.no_grad(): b[0] = 0.6
with L.no_grad(): d = L.func.grad(lambda v: (v * v * b).sum())(a)""",
    ),
)


def excuse(lines: list[str], at: int, verdict: str, said: str) -> Excuse | None:
    """The excuse for an error that one library raised at a line, if there is one."""
    return next((one for one in EXCUSES if one.covers(lines, at, verdict, said)), None)
