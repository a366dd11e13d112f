"""What the commands say of things of torch that they cannot take, each in one sentence with what to type."""

import pytest
import torch

from vistorch import vt

X = torch.ones(2, requires_grad=True)
WRONG = {
    "flow of a tensor": (lambda: vt.flow(X), "flow takes a module, not Tensor: type %vt flow model"),
    "flow of a class": (lambda: vt.flow(torch.nn.Linear), "flow takes a module, not type"),
    "flow of no parameters": (lambda: vt.flow(torch.nn.ReLU()), "has no parameters"),
    "watch of a tensor": (lambda: vt.watch(X), "watch takes a module, not Tensor"),
    "watch of a class": (lambda: vt.watch(torch.nn.Linear), "not the class Linear"),
    "watch of no optimizer": (lambda: vt.watch(None, X), "watch takes an optimizer, not Tensor"),
    "compare of tensors": (lambda: vt.compare(X, X), "no recording: type `%%vt record NAME`"),
    "memory of a leaf": (lambda: vt.memory(X), "a leaf"),
    "memory of a module": (lambda: vt.memory(torch.nn.ReLU()), "expected a result with history, got ReLU"),
    "a bound": (lambda: vt.trace(bound=-1), "bound is a number above 0"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_taken_is_said_before_anything_runs(case):
    act, words = WRONG[case]
    with pytest.raises(vt.Refusal) as caught:
        act()
    assert words in str(caught.value) and "\n" not in str(caught.value)
