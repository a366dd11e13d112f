"""Layers on several devices of one process: pipelines and cut layers, without MPI."""

import copy

import pytest

import vistorch
from vistorch import nn
from vistorch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe, SplitPoint, pipeline
from vistorch.distributed.tensor.parallel import ColumnParallelLinear, RowParallelLinear

F = nn.functional


@pytest.fixture
def devices():
    vistorch.cuda.simulate(4)
    yield [f"cuda:{i}" for i in range(4)]
    vistorch.cuda.simulate(None)


def net():
    vistorch.manual_seed(0)
    return nn.Sequential(
        nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 4), nn.Linear(4, 3)
    )


@pytest.mark.parametrize("kind", [ScheduleGPipe, Schedule1F1B])
@pytest.mark.parametrize("pieces", [1, 2, 4, 8])
def test_a_pipeline_over_simulated_devices_trains_as_one_device(devices, kind, pieces):
    whole = net().double()
    cut = pipeline(copy.deepcopy(whole), split_spec=dict.fromkeys("245", SplitPoint.BEGINNING))
    stages = [cut.build_stage(i, device) for i, device in enumerate(devices)]
    x, y, losses = vistorch.randn(8, 6).double(), vistorch.randn(8, 3).double(), []
    out = kind(stages, pieces, F.mse_loss).step(x, target=y, losses=losses)
    expected = whole(x)
    F.mse_loss(expected, y).backward()
    assert len(losses) == pieces and out.device.type == "cuda" and out.device.index == 3
    assert vistorch.allclose(out.cpu(), expected)
    parts = [p for stage in stages for p in stage.submod.parameters()]
    assert {str(p.device) for p in parts} == set(devices)
    for p, q in zip(parts, whole.parameters(), strict=True):
        assert vistorch.allclose(p.grad.cpu(), q.grad)


def test_1f1b_keeps_few_activations():
    most = {}
    for kind in (ScheduleGPipe, Schedule1F1B):
        stages = [PipelineStage(nn.Linear(2, 2), i, 2, "cpu") for i in range(2)]
        seen = most.setdefault(kind, [0])
        schedule = kind(stages, 8, lambda out, y, s=stages, m=seen: (m.append(len(s[0].kept)), out.sum())[1])
        schedule.step(vistorch.ones(8, 2), target=vistorch.ones(8, 2))
    assert max(most[ScheduleGPipe]) == 8 and max(most[Schedule1F1B]) == 2


def test_cut_layers_over_simulated_devices_are_the_whole_ones(devices):
    first, second = nn.Linear(6, 10), nn.Linear(10, 5)
    one = ColumnParallelLinear(6, 10, gather_output=False, devices=devices, whole=first)
    two = RowParallelLinear(10, 5, input_is_parallel=True, devices=devices, whole=second)
    assert [str(p.device) for p in one.weight] == devices
    x, y = (vistorch.ones(3, 6).requires_grad_() for _ in range(2))
    out, expected = two(one(x.to(devices[0]))), second(first(y))
    out.pow(2).sum().backward()
    expected.pow(2).sum().backward()
    assert vistorch.allclose(out.cpu(), expected, atol=1e-6)
    assert vistorch.allclose(x.grad, y.grad, atol=1e-5)
    joined = vistorch.cat([p.grad.cpu() for p in one.weight])
    assert vistorch.allclose(joined, first.weight.grad, atol=1e-5)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: pipeline(nn.Linear(2, 2)), "pipeline cuts an nn.Sequential, and this is a Linear"),
        (
            lambda: pipeline(net(), split_spec={"9": SplitPoint.END}),
            "split_spec names '9', but the layers are 0, 1",
        ),
        (lambda: PipelineStage(nn.Linear(2, 2), 2, 2), "Stage index 2 is out of range of 2"),
        (
            lambda: ScheduleGPipe(PipelineStage(nn.Linear(2, 2), 0, 1), 3).step(vistorch.ones(4, 2)),
            "a batch of 4 cannot be cut into 3 micro-batches",
        ),
        (
            lambda: ScheduleGPipe(PipelineStage(nn.Linear(2, 2), 0, 1), 2, F.mse_loss).step(
                vistorch.ones(4, 2)
            ),
            "the last part of a pipeline with a loss_fn needs `target`",
        ),
        (
            lambda: ScheduleGPipe(PipelineStage(nn.Linear(2, 2), 1, 2), 2).step(),
            "the parts of this pipeline wait for each other",
        ),
        (lambda: ColumnParallelLinear(2, 2, devices=["cpu"] * 3), "a layer of 2 cannot be cut into 3 parts"),
    ],
)
def test_what_cannot_be_split_is_said(call, said):
    with pytest.raises((ValueError, RuntimeError, NotImplementedError), match=said):
        call()


def test_the_type_of_an_operation_has_pytorchs_name():
    from vistorch import distributed as dist

    assert isinstance(dist.ReduceOp.SUM, dist.ReduceOp.RedOpType)
    assert len(dist.ReduceOp.RedOpType.__members__) == 9
