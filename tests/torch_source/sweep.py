"""Every op that torch differentiates, in the samples of `tests/ops`: stepped, recorded, checked without false alarm.

`python -m tests.torch_source.sweep` runs all of them, in minutes; the tests check one sample of each.
"""

import sys
import warnings
from collections import Counter

import torch

from tests.ops.cases import gradient_dtypes
from tests.ops.gradients import forward
from tests.ops.library import attempt
from tests.ops.samples import OPS
from tests.ops.test_gradients import is_differentiable
from vistorch.debug.source import named
from vistorch.debug.steps.build import record
from vistorch.torch_source.check import verdict


def losses(most):
    """(name of the op, a scalar of what it gives) of the first samples of each op."""
    for op in OPS:
        for sample in op.samples[:most] if is_differentiable(op) else ():
            if "float64" not in list(gradient_dtypes(op, sample)):
                continue
            made = attempt(forward, op, torch, sample, "float64").value
            outs = [o for o in made.outs if isinstance(o, torch.Tensor) and o.requires_grad] if made else []
            if outs:
                yield op.name, sum((o.real + o.imag if o.is_complex() else o).sum() for o in outs)


def judged(most=1, steps=False):
    """How many kinds of nodes how many witnesses spoke of, and what was wrong: (op, node, lines) or (op, sentence)."""
    source, seen, count, wrong = named("torch"), set(), Counter(), []
    for name, loss in losses(most):
        if steps:
            walked = record(source.stepper(loss))
            if walked.failed and not any(
                word in walked.failed for word in ("not implemented", "not differentiable")
            ):
                wrong.append((name, walked.failed))
        for node in source.order([loss]):
            kind = node.name()
            if source.nodes.is_leaf(node) or kind in seen:
                continue
            try:
                found = verdict(node)
            except LookupError:
                continue
            if found.lines:
                seen.add(kind)
            count[len(found.lines)] += 1
            if not all(ok for ok, _ in found.lines):
                wrong.append((name, kind, found.lines))
    return len(seen), count, wrong


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    kinds, count, wrong = judged(3, steps=True)
    print(f"{kinds} kinds of nodes have a witness; nodes by number of witnesses: {dict(count)}")
    for one in wrong:
        print("wrong:", *one)
    sys.exit(bool(wrong))
