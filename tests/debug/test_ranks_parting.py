"""Where ranks part: each kind of difference, planted in runs that are otherwise alike."""

import random

import numpy as np
import pytest

import vistorch as torch
from vistorch import nn
from vistorch.debug.ranks.parting import Trail, judge
from vistorch.debug.ranks.parting.judge import text_of
from vistorch.debug.ranks.parting.trail import checksum

RANKS = 3


def found(program, same=False, ranks=RANKS):
    """What is found of a program, run once for each rank."""
    trails = {}
    for rank in range(ranks):
        torch.manual_seed(0)
        trails[rank] = Trail()
        program(rank, trails[rank])
    return judge({r: t.wire() for r, t in trails.items()}, same, lambda r, sums: trails[r].values(sums))


def training(
    change=lambda **known: None, data=lambda rank, step: 0.0, lr=lambda rank: 0.1, kind=torch.optim.SGD
):
    """A training of which one thing differs."""

    def program(rank, trail):
        net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
        optimizer = kind(net.parameters(), lr=lr(rank))
        change(rank=rank, step=-1, at="start", net=net, optimizer=optimizer)
        with trail:
            for step in range(3):
                known = {"rank": rank, "step": step, "net": net, "optimizer": optimizer}
                x = torch.tensor(np.arange(8.0, dtype=np.float32).reshape(4, 2) + data(rank, step))
                loss = net(x).pow(2).mean()
                optimizer.zero_grad()
                loss.backward()
                change(at="backward", **known)
                optimizer.step()
                change(at="step", **known)

    return program


def test_runs_that_are_alike_are_said_to_be():
    for same in (False, True):
        made = found(training(), same)
        assert not made["apart"] and made["title"] == "Ranks agree", text_of(made)
    assert "every op is the same on all 3 ranks" in made["text"]


def test_another_start_of_a_parameter():
    def change(rank, at, net, **_):
        if at == "start" and rank == 1:
            net[2].bias.data.add_(0.25)

    made = found(training(change))
    assert made["title"] == "Ranks part at step 0: 2.bias differs first on rank 1"
    first = next(row for row in made["rows"] if row["first"])
    assert first["odd"] == [False, True, False] and first["differs"] == pytest.approx(0.25)
    assert "torch.distributed.broadcast" in made["cure"]


def test_a_forgotten_seed_at_the_start():
    def program(rank, trail):
        torch.manual_seed(rank)
        training()(rank, trail)

    made = found(program)
    assert made["title"].endswith("differs first on ranks 1 and 2 (forgotten seed?)")
    assert next(seed["values"] for seed in made["seeds"]) == ["0", "1", "2"]
    assert "`torch.manual_seed(0)` on every rank before the network is made" in made["cure"]


def test_noise_without_a_seed_is_found_in_its_line():
    def change(rank, at, step, net, **_):
        if at == "start":
            torch.manual_seed(rank)
        if at == "backward" and step == 1:
            gradient = net[0].weight.grad
            gradient += torch.randn_like(gradient)

    made = found(training(change))
    assert made["title"] == (
        "Ranks part at step 1: 0.weight.grad differs first on ranks 1 and 2 (forgotten seed?)"
    )
    assert "Equal on all ranks after the backward pass in step 1." in made["text"]
    assert [line["text"].strip() for line in made["code"] if line["hit"]] == [
        "gradient += torch.randn_like(gradient)"
    ]


def test_a_buffer_that_one_rank_writes():
    def change(rank, at, step, net, **_):
        if at == "step" and step == 0 and rank == 2:
            net[1].running_var.fill_(3)

    made = found(training(change))
    assert made["title"] == "Ranks part at step 1: 1.running_var differs first on rank 2"
    assert "net[1].running_var.fill_(3)" in made["text"] and made["rank"] == 2


def test_a_learning_rate_of_its_own():
    made = found(training(lr=lambda rank: 0.2 if rank == 1 else 0.1))
    assert made["title"] == "Ranks part at step 0: 0.weight differs first on rank 1"
    assert "lr is not: 0.2 on rank 1, 0.1 on ranks 0 and 2" in made["text"]


def test_a_memory_of_the_optimizer():
    def change(rank, at, step, net, optimizer, **_):
        if at == "step" and step == 0 and rank == 2:
            optimizer.state[net[0].bias]["exp_avg"].mul_(3)

    made = found(training(change, kind=torch.optim.Adam))
    assert made["title"] == "Ranks part at step 1: 0.bias differs first on rank 2"
    assert "exp_avg of 0.bias differs on rank 2" in made["text"]


def test_gradients_that_nothing_averages():
    made = found(training(data=lambda rank, step: rank + 3.0 * step))
    assert made["title"].endswith("(gradients not averaged)")
    assert made["cure"].startswith("Wrap the network in DistributedDataParallel")


def test_a_parameter_that_one_rank_does_not_use():
    def program(rank, trail):
        net = nn.ModuleList([nn.Linear(2, 1), nn.Linear(2, 1)])
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        with trail:
            loss = net[0](torch.ones(1, 2)).sum()
            if rank != 1:
                loss = loss + net[1](torch.ones(1, 2)).sum()
            loss.backward()
            optimizer.step()

    made = found(program)
    assert "No gradient has come to it on rank 1" in made["text"]


def test_another_order_of_batches_where_all_have_the_same():
    made = found(training(data=lambda rank, step: 2.0 - step if rank == 1 else float(step)), same=True)
    assert made["title"].endswith("differs first on rank 1 (another order of batches)")
    assert made["text"].startswith("Rank 1 is given in step 0 the batch that rank 0 is given in step 2.")


def test_a_number_of_its_own_where_all_have_the_same():
    def program(rank, trail):
        with trail:
            y = torch.ones(3).exp() * (rank == 2)
            y.sum()

    made = found(program, same=True)
    assert "It is given True on rank 2, False on ranks 0 and 1." in made["text"]


def test_another_way_through_the_program():
    def program(rank, trail):
        with trail:
            x = torch.ones(3)
            (x.exp() if rank else x.sin()).sum()

    made = found(program, same=True)
    assert "On rank 0 sin runs here, on ranks 1 and 2 exp" in made["text"]


def test_a_dropout_that_has_drawn_before():
    def program(rank, trail):
        with trail:
            if rank == 1:
                torch.rand(1)
            x = torch.ones(16)
            x.bernoulli_(0.5)

    made = found(program, same=True)
    assert "more or fewer were drawn before" in made["text"]


def sampled(seed_of, epochs=1):
    data = torch.utils.data.TensorDataset(torch.arange(180.0).reshape(90, 2))

    def program(rank, trail):
        sampler = torch.utils.data.DistributedSampler(data, 3, rank, seed=seed_of(rank))
        loader = torch.utils.data.DataLoader(data, 2, sampler=sampler)
        net = nn.Linear(2, 1)
        with trail:
            for epoch in range(epochs):
                sampler.set_epoch(epoch)
                for (x,) in loader:
                    net(x)

    return program


def test_samplers_that_shuffle_each_in_its_own_way():
    assert found(sampled(lambda rank: 0, epochs=3))["title"] == "Ranks agree"
    made = found(sampled(lambda rank: rank))
    assert made["apart"] and "are given the same samples" in made["title"]
    assert "set_epoch() in each epoch" in made["cure"]


def test_all_ranks_with_the_same_data():
    made = found(training(data=lambda rank, step: 10.0 * step))
    assert made["title"] == "All ranks are given the same data" or not made["apart"]


def test_random_programs_with_one_change():
    """The step and the tensor of a change in any parameter, gradient or buffer, at any step."""
    draw = random.Random(7)
    for _ in range(12):
        at, step, rank = draw.choice(["backward", "step"]), draw.randrange(2), draw.randrange(RANKS)
        names = ["0.weight", "0.bias", "1.weight", "2.bias"] + ["1.running_mean"] * (at == "step")
        name = draw.choice(names)

        def change(at=at, step=step, rank=rank, name=name, **known):
            net = known["net"]
            if (known["_at"], known["_step"], known["_rank"]) == (at, step, rank):
                target = dict([*net.named_parameters(), *net.named_buffers()])[name]
                (target.grad if at == "backward" else target.data).mul_(1.5).add_(0.125)

        made = found(
            training(
                lambda change=change, **k: change(_at=k["at"], _step=k["step"], _rank=k["rank"], net=k["net"])
            )
        )
        tensor = f"{name}.grad" if at == "backward" else name
        where = step if at == "backward" else step + 1
        assert made["title"] == f"Ranks part at step {where}: {tensor} differs first on rank {rank}", text_of(
            made
        )
        hit = [line["text"] for line in made["code"] if line["hit"]]
        assert len(hit) == 1 and "mul_(1.5)" in hit[0]


def test_listening_changes_nothing():
    def weights(listens):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(), nn.Linear(4, 1))
        optimizer = torch.optim.Adam(net.parameters())
        trail = Trail()
        for _ in range(3):
            if listens:
                with trail:
                    net(torch.ones(2, 4)).sum().backward()
                    optimizer.step()
            else:
                net(torch.ones(2, 4)).sum().backward()
                optimizer.step()
        return [checksum(p) for p in net.parameters()]

    assert weights(True) == weights(False)


def test_shards_of_a_layer_are_not_compared():
    class Cut(nn.Linear):
        """A layer that ranks share out."""

    Cut.__module__ = "vistorch.distributed.tensor.parallel.layers"

    def program(rank, trail):
        torch.manual_seed(rank)
        net = nn.Sequential(Cut(2, 2))
        with trail:
            net(torch.ones(1, 2))

    assert found(program)["title"] == "Ranks agree"
