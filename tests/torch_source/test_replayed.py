"""A pass that torch ran by itself: stepping through it shows what it did, and changes nothing."""

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import vistorch
from tests.torch_source import programs
from tests.torch_source.models import MODELS
from vistorch import vt
from vistorch.debug.steps.build import record
from vistorch.torch_source.replayed import SAYS, ReplayedPass
from vistorch.torch_source.stepper import TorchStepper


@pytest.mark.parametrize("name", ["LeNet", "LSTM"])
def test_what_is_replayed_is_what_a_walk_shows(name):
    def made(kind):
        torch.manual_seed(0)
        net, make = MODELS[name]()
        walk = kind(make(), names={p: n for n, p in net.named_parameters()})
        return record(walk), [p.grad for p in net.parameters()]

    (walked, grads), (replayed, ran) = made(TorchStepper), made(ReplayedPass)
    assert walked.text() == replayed.text() and SAYS in replayed.says
    assert all(g is None for g in grads) and all(g is not None for g in ran)


@pytest.mark.parametrize("seed", range(10))
def test_the_pass_itself_is_torchs(seed):
    leaves, kept, loss = programs.program(seed)
    try:
        loss.backward()
    except RuntimeError:
        return
    want = programs.grads([*leaves, *kept])
    leaves, kept, loss = programs.program(seed)
    walk = ReplayedPass(loss)
    walk.last()
    walk.first()
    walk.undo()
    assert programs.same(want, programs.grads([*leaves, *kept]))


def test_a_reentrant_checkpoint_is_refused_with_what_to_type_and_replayed():
    def make():
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
        x = torch.ones(2, 3, requires_grad=True)
        return net, x, checkpoint(net, x, use_reentrant=True).sum()

    net, x, loss = make()
    with pytest.raises(vt.Refusal, match="--ran"):
        vt.step(loss, namespace={"net": net, "x": x})
    shown = vt.step(loss, ran=True, namespace={"net": net, "x": x})
    assert "CheckpointFunctionBackward" in str(shown) and "-> x.grad" in str(shown)
    want_net, want_x, want = make()
    want.backward()
    assert torch.equal(x.grad, want_x.grad)
    assert all(
        torch.equal(p.grad, q.grad) for p, q in zip(net.parameters(), want_net.parameters(), strict=True)
    )


def test_a_model_of_several_processes_is_refused_and_replayed(tmp_path):
    distributed = torch.distributed
    distributed.init_process_group("gloo", init_method=(tmp_path / "store").as_uri(), rank=0, world_size=1)
    try:
        torch.manual_seed(0)
        net = nn.parallel.DistributedDataParallel(nn.Linear(3, 2))
        loss = net(torch.ones(1, 3)).sum()
        with pytest.raises(vt.Refusal, match=r"DistributedDataParallel.*--ran"):
            vt.step(loss)
        shown = vt.step(loss, ran=True)
        assert "AddmmBackward0" in str(shown) and net.module.bias.grad.tolist() == [1.0, 1.0]
        other = torch.ones(2, requires_grad=True)
        TorchStepper(other.exp().sum()).finish()  # another model is not concerned
        assert other.grad is not None
    finally:
        distributed.destroy_process_group()


def test_what_was_there_before_is_shown_as_before():
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.full((2,), 5.0)
    walk = ReplayedPass((x * 2).sum())
    assert torch.equal(walk.gradient(x), torch.full((2,), 5.0))
    frame = walk.last()
    assert torch.equal(frame.accumulated[1], torch.full((2,), 7.0))
    assert torch.equal(walk.gradient(x), x.grad)


def test_the_engine_has_no_need_of_it():
    with pytest.raises(vt.Refusal, match="replay is not there for vistorch"):
        vt.step(vistorch.ones(2, requires_grad=True).sum(), ran=True)
