"""The tutorial on fine-tuning: its exercises, and that its checkpoint is what torchvision's files are."""

from collections import OrderedDict

import pytest

import vistorch
from tests.tutorials.cells import numbers, said
from vistorch.vision.models import resnet18

NOTEBOOK = "11_fine_tuning"
FREEZE = """
def mine(net, names):
    net.requires_grad_(False)
    for name in names:
        getattr(net, name).requires_grad_(True)
"""
FORGETS = """
def mine(net, names):
    for name, child in net.named_children():
        if name not in names:
            child.requires_grad_(False)
"""
CLEAN = "lambda state: {name.removeprefix('module.'): value for name, value in state.items()}"
STRIPS = "lambda state: {name.lstrip('module.'): value for name, value in state.items() if name != 'module.1.bias'}"


def published():
    """The names and shapes of torchvision's file of resnet18, as its layers are described."""

    def norm(name, width):
        entries = ("weight", "bias", "running_mean", "running_var")
        return [*((f"{name}.{entry}", (width,)) for entry in entries), (f"{name}.num_batches_tracked", ())]

    found = [("conv1.weight", (64, 3, 7, 7)), *norm("bn1", 64)]
    before = 64
    for row, width in enumerate((64, 128, 256, 512), 1):
        for block in (0, 1):
            name = f"layer{row}.{block}"
            found += [(f"{name}.conv1.weight", (width, before, 3, 3)), *norm(f"{name}.bn1", width)]
            found += [(f"{name}.conv2.weight", (width, width, 3, 3)), *norm(f"{name}.bn2", width)]
            if before != width:
                found += [(f"{name}.downsample.0.weight", (width, before, 1, 1))]
                found += norm(f"{name}.downsample.1", width)
            before = width
    return [*found, ("fc.weight", (1000, 512)), ("fc.bias", (1000,))]


def test_three_exercises_stand_open():
    assert numbers(NOTEBOOK) == [1, 2, 3]
    for number in (1, 2, 3):
        assert "still open" in said(NOTEBOOK, number)


@pytest.mark.parametrize(
    ("number", "answer", "before"), [(1, "512 * 10 + 10", ""), (2, "mine", FREEZE), (3, CLEAN, "")]
)
def test_a_right_answer(number, answer, before):
    assert said(NOTEBOOK, number, answer, before=before) == f"Exercise {number}: right.\n"


@pytest.mark.parametrize(
    ("number", "answer", "before"),
    [(1, "5120", ""), (2, "mine", FORGETS), (3, STRIPS, ""), (3, "lambda state: state", "")],
)
def test_a_wrong_answer_gets_the_hint(number, answer, before):
    assert said(NOTEBOOK, number, answer, before=before).startswith(f"Exercise {number}: not yet. Hint: ")


def test_the_checkpoint_is_one_that_torch_reads(tmp_path):
    torch = pytest.importorskip("torch", reason="torch is the reference")
    net = resnet18()
    vistorch.save(net.state_dict(), tmp_path / "resnet18.pth")
    state = torch.load(tmp_path / "resnet18.pth", weights_only=True)
    assert type(state) is OrderedDict
    assert [(name, tuple(value.shape)) for name, value in state.items()] == published()
    assert state["bn1.num_batches_tracked"].dtype is torch.int64
    assert state["fc.weight"].dtype is torch.float32
    for name, value in net.state_dict().items():
        assert (state[name].numpy() == value.numpy()).all(), name


def test_a_checkpoint_that_torch_wrote_is_read(tmp_path):
    torch = pytest.importorskip("torch", reason="torch is the reference")
    torch.manual_seed(0)
    state = OrderedDict()
    for name, shape in published():
        whole = name.endswith("num_batches_tracked")
        state[name] = torch.tensor(7) if whole else torch.rand(shape)
    torch.save(state, tmp_path / "resnet18.pth")
    net = resnet18()
    assert (
        str(net.load_state_dict(vistorch.load(tmp_path / "resnet18.pth")))
        == "<All keys matched successfully>"
    )
    for name, value in net.state_dict().items():
        assert (state[name].numpy() == value.numpy()).all(), name
