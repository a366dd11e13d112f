"""What the commands say of things of torch that they cannot take, each in one sentence with what to type."""

import warnings

import pytest
import torch
from torch import nn

from vistorch import vt

X = torch.ones(2, requires_grad=True)
WRONG = {
    "flow of a tensor": (lambda: vt.flow(X), "flow takes a module, not Tensor: type %vt flow model"),
    "flow of a class": (lambda: vt.flow(torch.nn.Linear), "flow takes a module, not the class Linear"),
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


def _no_grad():
    with torch.no_grad():
        return torch.ones(2, requires_grad=True) * 2


def _inference():
    with torch.inference_mode():
        return torch.ones(2) * 2


def _freed():
    loss = (torch.ones(2, requires_grad=True) ** 2).sum()
    loss.backward()
    return loss


def _nested():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], requires_grad=True)


def _sgd():
    return torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)


# things of torch that a person may have at hand, by what they are
THINGS = {
    "a module": lambda: nn.Linear(2, 2),
    "a module without parameters": nn.ReLU,
    "a module that waits for its shape": lambda: nn.LazyLinear(2),
    "a module in TorchScript": lambda: nn.Sequential(nn.Linear(2, 2)),
    "a class": lambda: nn.Linear,
    "a leaf": lambda: torch.ones(2, requires_grad=True),
    "no grad": lambda: torch.ones(2),
    "under no_grad": _no_grad,
    "in inference mode": _inference,
    "a freed graph": _freed,
    "integers": lambda: torch.arange(3),
    "bools": lambda: torch.ones(2) > 0,
    "None": lambda: None,
    "sparse": lambda: torch.eye(3).to_sparse(),
    "of a sparse leaf": lambda: torch.sparse.mm(torch.eye(3).to_sparse().requires_grad_(), torch.ones(3, 1)),
    "a vector": lambda: torch.ones(3, requires_grad=True) * 2,
    "an empty vector": lambda: torch.ones(0, requires_grad=True) * 2,
    "a complex number": lambda: (torch.ones(3, dtype=torch.complex64, requires_grad=True) * 2).sum(),
    "a nested leaf": _nested,
    "of a nested leaf": lambda: torch.nested.to_padded_tensor(_nested() * 2, 0.0).sum(),
    "meta": lambda: (torch.ones(3, device="meta", requires_grad=True) * 2).sum(),
    "a node": lambda: X.sum().grad_fn,
    "an optimizer": _sgd,
    "a schedule": lambda: torch.optim.lr_scheduler.StepLR(_sgd(), 1),
    "a loader": lambda: torch.utils.data.DataLoader([1, 2]),
    "a loss function": lambda: nn.functional.cross_entropy,
    "a dtype": lambda: torch.float32,
    "a device": lambda: torch.device("cpu"),
    "a size": lambda: torch.Size([2, 3]),
    "a generator": torch.Generator,
    "a storage": lambda: torch.ones(2).untyped_storage(),
    "a distribution": lambda: torch.distributions.Normal(0.0, 1.0),
    "packed": lambda: nn.utils.rnn.pack_sequence([torch.ones(2, 1), torch.ones(1, 1)]),
    "an empty list": list,
    "a list with a number": lambda: [X.sum(), 3],
    "a dict": lambda: {"loss": X.sum()},
    "a number": lambda: 3.0,
    "a text": lambda: "loss",
}
COMMANDS = {
    "show": vt.show,
    "graph": vt.graph,
    "step": lambda x: vt.step(x, live="off"),
    "step, replayed": lambda x: vt.step(x, ran=True),
    "memory": vt.memory,
    "flow": vt.flow,
    "watch": lambda x: vt.watch(x).__enter__().__exit__(None, None, None),
    "watch with an optimizer": lambda x: vt.watch(None, x).__enter__().__exit__(None, None, None),
    "compare": lambda x: vt.compare(x, x),
    "vars": lambda x: vt.vars(namespace={"x": x}),
    "export": lambda x: vt.export(x),
    "break": lambda x: vt.break_(x),
    "trace": lambda x: vt.trace(bound=x),
    "record": lambda x: vt.record(x),
}
TAKEN = {  # what a command shows, so that it refuses the rest
    "graph": {"a freed graph", "a vector", "an empty vector", "a complex number", "meta", "of a sparse leaf",
        "of a nested leaf"},
    "step": set(),
    "memory": {"a vector", "an empty vector", "a complex number", "meta", "of a sparse leaf",
        "of a nested leaf"},
    "flow": {"a module", "a module in TorchScript"},
    "compare": set(),
    "export": set(),
    "break": {"None", "a loss function"},
    "trace": {"None", "a number"},
    "record": {"a text"},
}  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested|Sparse")
def test_every_command_takes_every_thing_or_says_what_it_takes(command):
    wrong = []
    for what, make in THINGS.items():
        thing = make()
        state = thing._version if isinstance(thing, torch.Tensor) and not thing.is_inference() else None
        try:
            COMMANDS[command](thing)
            said = None
        except vt.Refusal as refused:
            said = str(refused)
        except Exception as error:
            wrong.append((what, f"{type(error).__name__}: {error}"))
            continue
        if said is not None and ("Error" in said or "\n" in said or "Internal" in said or len(said) < 15):
            wrong.append((what, said))
        if command in TAKEN and (said is None) != (what in TAKEN[command]):
            wrong.append((what, said or "taken"))
        if state is not None:
            assert thing._version == state
    vt.break_(clear=True)
    assert not wrong, "\n".join(map(str, wrong))
