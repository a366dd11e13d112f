"""What ranks train, against one process on the whole batch: each case returns numbers, or raises.

Every rank computes the reference for itself, on the whole batch, with the very network that it wraps.
"""

import copy
import hashlib
import json
import sys
import traceback
import warnings

import numpy as np

import vistorch as torch
import vistorch.distributed as dist
from vistorch import nn
from vistorch.nn.parallel import DistributedDataParallel as DDP
from vistorch.vision import models

F = nn.functional


class GPT(nn.Module):
    """Two blocks of attention over twelve letters."""

    def __init__(self, width=16, letters=11, length=12):
        super().__init__()
        self.letters, self.places = (
            nn.Embedding(letters, width),
            nn.Parameter(torch.randn(length, width) * 0.1),
        )
        block = nn.TransformerEncoderLayer(width, 2, 32, dropout=0.0, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(block, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, letters)
        self.mask = nn.Transformer.generate_square_subsequent_mask(length)

    def forward(self, x):
        return self.head(self.blocks(self.letters(x) + self.places, mask=self.mask, is_causal=True))


class Branches(nn.Module):
    """A network of which each batch uses one branch, and none uses the last."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.never = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x, which):
        return (self.first if which == 0 else self.second)(x)


def digest(tensors):
    """The bits of tensors, in a few letters."""
    sha = hashlib.sha256()
    for t in tensors:
        sha.update(b"-" if t is None else np.ascontiguousarray(t.detach().numpy()).tobytes())
    return sha.hexdigest()[:16]


def gradients(net):
    return [p.grad for p in net.parameters()]


def worst(net, reference):
    """The largest relative difference of a gradient, over the whole network."""
    found = 0.0
    for p, q in zip(net.parameters(), reference.parameters(), strict=True):
        assert (p.grad is None) == (q.grad is None)
        if p.grad is not None:
            a, b = p.grad.double(), q.grad.double()
            found = max(found, ((a - b).norm() / max(b.norm().item(), 1e-6)).item())
    return found


def mine(x, rank, size):
    """This rank's part of a batch."""
    return x.chunk(size)[rank]


def agrees(make, batch, loss, rank, size, steps=2, reference_of=None, **options):
    """Train a little, and compare each step's gradients; returns the worst difference and the ranks' bits."""
    torch.manual_seed(rank)  # rank 0's network is the one that counts
    net = make()
    torch.manual_seed(0)
    ddp = DDP(net, **options)
    reference = copy.deepcopy(net) if reference_of is None else reference_of(net)
    mine_optimizer, other = (
        torch.optim.SGD(ddp.parameters(), lr=0.01),
        torch.optim.SGD(reference.parameters(), lr=0.01),
    )
    found, bits = 0.0, []
    for _ in range(steps):
        x, y = batch()
        for optimizer in (mine_optimizer, other):
            optimizer.zero_grad()
        loss(ddp(mine(x, rank, size)), mine(y, rank, size)).backward()
        loss(reference(x), y).backward()
        found = max(found, worst(net, reference))
        bits.append(digest(gradients(net)))
        mine_optimizer.step()
        other.load_state_dict(other.state_dict())
        other.step()
    bits.append(digest(net.state_dict().values()))
    return {"worst": found, "bits": bits}


def pictures(size, channels=3, side=32, count=8, dtype=None):
    return lambda: (torch.randn(count, channels, side, side, dtype=dtype), torch.randint(0, 10, (count,)))


def lenet(rank, size):
    return agrees(models.lenet, pictures(size), F.cross_entropy, rank, size)


def lenet_small_buckets(rank, size):
    return agrees(
        models.lenet,
        pictures(size),
        F.cross_entropy,
        rank,
        size,
        bucket_cap_mb=0.01,
        gradient_as_bucket_view=True,
        steps=3,
    )


def resnet18(rank, size):
    def make():
        return nn.SyncBatchNorm.convert_sync_batchnorm(models.resnet18(num_classes=10)).double()

    def plain(net):
        other = models.resnet18(num_classes=10).double()
        other.load_state_dict(net.state_dict())
        return other

    batch = pictures(size, 3, 32, dtype=torch.float64)
    return agrees(make, batch, F.cross_entropy, rank, size, steps=1, reference_of=plain)


def gpt(rank, size):
    def batch():
        x = torch.randint(0, 11, (8, 12))
        return x, x.roll(-1, 1)

    def loss(out, y):
        return F.cross_entropy(out.reshape(-1, 11), y.reshape(-1))

    return agrees(GPT, batch, loss, rank, size, static_graph=True, steps=3)


def unused(rank, size):
    """Each rank uses another branch; what no rank used keeps no gradient."""
    torch.manual_seed(0)
    net = Branches()
    ddp, reference = DDP(net, find_unused_parameters=True), copy.deepcopy(net)
    found, bits = 0.0, []
    for step in range(3):
        x = torch.randn(size, 4)
        for one in (ddp, reference):
            one.zero_grad()
        ddp(x[rank : rank + 1], (rank + step) % 2).sum().backward()
        (sum(reference(x[r : r + 1], (r + step) % 2).sum() for r in range(size)) / size).backward()
        assert net.never.weight.grad is None
        found = max(found, worst(net, reference))
        bits.append(digest(gradients(net)))
    return {"worst": found, "bits": bits}


def unused_without_looking(rank, size):
    """Without find_unused_parameters, the next forward pass says which parameters had no gradient."""
    ddp = DDP(Branches())
    ddp(torch.ones(1, 4), 0).sum().backward()
    try:
        ddp(torch.ones(1, 4), 0)
    except RuntimeError as error:
        return {"said": str(error)}
    return {"said": ""}


def uneven(rank, size):
    """Rank r has 2 + r batches; those that have ended answer for the others."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    ddp, seen = DDP(net), []
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with ddp.join():
        for _ in range(2 + rank):
            optimizer.zero_grad()
            ddp(torch.ones(4, 4) * (rank + 1) + torch.randn(4, 4)).pow(2).mean().backward()
            optimizer.step()
            seen.append(digest(gradients(net)))
    # by hand: while both train, the mean; afterwards one rank's gradient over the number of ranks
    return {"worst": 0.0, "bits": [digest(net.state_dict().values())], "steps": len(seen)}


def uneven_numbers(rank, size):
    """The gradients of a pass in which only the last rank has inputs, by both ways to divide."""
    found = []
    for by_all in (True, False):
        net = nn.Linear(2, 1, bias=False)
        with torch.no_grad():
            net.weight.fill_(1.0)
        ddp = DDP(net)
        with ddp.join(divide_by_initial_world_size=by_all):
            for step in range(1 + (rank == size - 1)):
                net.zero_grad()
                ddp(torch.full((1, 2), 1.0 + rank + 10 * step)).sum().backward()
                last = net.weight.grad.tolist()[0][0]
        found.append(last)
    first = sum(range(1, size + 1)) / size
    second = [(10.0 + size) / size, 10.0 + size]
    expected = second if rank == size - 1 else [first, first]
    return {"worst": max(abs(a - b) for a, b in zip(found, expected, strict=True)), "bits": []}


def early_termination(rank, size):
    net = DDP(nn.Linear(2, 1))
    try:
        with net.join(throw_on_early_termination=True):
            for _ in range(1 + rank):
                net(torch.ones(1, 2)).sum().backward()
    except RuntimeError as error:
        return {"said": str(error)}
    return {"said": ""}


def accumulated(rank, size):
    """Two passes without and one with averaging are as one pass on all three batches."""
    torch.manual_seed(0)
    net = nn.Linear(4, 2)
    ddp, reference = DDP(net), copy.deepcopy(net)
    batches = [torch.randn(size, 4) for _ in range(3)]
    for number, x in enumerate(batches):
        if number < 2:
            with ddp.no_sync():
                ddp(x[rank : rank + 1]).pow(2).sum().backward()
        else:
            ddp(x[rank : rank + 1]).pow(2).sum().backward()
        (reference(x).pow(2).sum() / size).backward()
    return {"worst": worst(net, reference), "bits": [digest(gradients(net))]}


def buffers(rank, size):
    """Each forward pass begins with rank 0's running statistics."""
    torch.manual_seed(0)
    net = nn.BatchNorm1d(3)
    ddp = DDP(net)
    kept = DDP(copy.deepcopy(net), broadcast_buffers=False)
    for _ in range(3):
        x = torch.randn(4, 3) + rank
        ddp(x).sum().backward()
        kept(x).sum().backward()
    ddp(torch.randn(4, 3))
    ddp.eval()
    ddp(torch.randn(4, 3))
    return {"worst": 0.0, "bits": [digest(net.buffers())], "own": digest(kept.module.buffers())}


def sync_batchnorm(rank, size):
    """Outputs, gradients and statistics of unequal batches are those of one process."""
    torch.manual_seed(0)
    plain = nn.BatchNorm2d(3, momentum=None).double()
    synced = nn.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(plain))
    found = 0.0
    for _ in range(2):
        parts = [torch.randn(2 + r, 3, 4, 4, dtype=torch.float64) * 3 + r for r in range(size)]
        whole = torch.cat(parts).requires_grad_()
        x = parts[rank].clone().requires_grad_()
        start = sum(2 + r for r in range(rank))
        weights = torch.randn_like(whole)
        for one in (plain, synced):
            one.zero_grad()
        out, other = synced(x), plain(whole)
        here = slice(start, start + 2 + rank)
        (out * weights[here]).sum().backward()
        (other * weights).sum().backward()
        for p in synced.parameters():
            dist.all_reduce(p.grad)
        pairs = [
            (out, other[here]),
            (x.grad, whole.grad[here]),
            *zip(gradients(synced), gradients(plain), strict=True),
        ]
        pairs += list(zip(synced.buffers(), plain.buffers(), strict=True))
        found = max(found, *(((a - b).double().norm() / b.double().norm()).item() for a, b in pairs))
    return {"worst": found, "bits": [digest(synced.buffers())]}


def half_hooks(rank, size):
    """Gradients that travel as float16 or bfloat16 keep so many digits."""
    from vistorch.distributed.algorithms.ddp_comm_hooks import default_hooks as hooks
    from vistorch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as power

    found, bits = {}, []
    for name, state, hook in (
        ("none", None, hooks.allreduce_hook),
        ("fp16", None, hooks.fp16_compress_hook),
        ("bf16", None, hooks.bf16_compress_hook),
        ("wrapped", None, hooks.fp16_compress_wrapper(hooks.allreduce_hook)),
        ("power", power.PowerSGDState(None, 2, start_powerSGD_iter=2), power.powerSGD_hook),
        ("batched", power.PowerSGDState(None, 2, start_powerSGD_iter=2), power.batched_powerSGD_hook),
    ):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 4))
        ddp, reference = DDP(net), copy.deepcopy(net)
        ddp.register_comm_hook(state, hook)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        losses = []
        x, target = torch.randn(8, 16), torch.randn(8, 4)
        for _ in range(12):
            optimizer.zero_grad()
            loss = F.mse_loss(ddp(mine(x, rank, size)), mine(target, rank, size))
            loss.backward()
            if not losses:
                F.mse_loss(reference(x), target).backward()
                found[name] = worst(net, reference)
            optimizer.step()
            losses.append(F.mse_loss(net(x), target).item())
        assert losses[-1] < 0.9 * losses[0], (name, losses)
        bits.append(digest(net.parameters()))
    return {"found": found, "bits": bits}


def zero(rank, size):
    """An optimizer whose state is cut over the ranks gives the parameters that a whole one gives."""
    from vistorch.distributed.optim import ZeroRedundancyOptimizer

    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 2))
    reference = copy.deepcopy(net)
    sharded = ZeroRedundancyOptimizer(net.parameters(), torch.optim.Adam, lr=0.1)
    whole = torch.optim.Adam(reference.parameters(), lr=0.1)
    ddp = DDP(net)
    for _ in range(3):
        x = torch.randn(2 * size, 4)
        sharded.zero_grad(), whole.zero_grad()
        ddp(mine(x, rank, size)).pow(2).mean().backward()
        for p, q in zip(net.parameters(), reference.parameters(), strict=True):
            q.grad = p.grad.clone()
        sharded.step(), whole.step()
    found = max(
        (p - q).abs().max().item() for p, q in zip(net.parameters(), reference.parameters(), strict=True)
    )
    kept = sum(t.numel() for state in sharded.optim.state.values() for t in state.values() if t.dim())
    sharded.consolidate_state_dict(to=0)
    same = True
    if rank == 0:
        state = sharded.state_dict()
        plain = torch.optim.Adam(copy.deepcopy(net).parameters(), lr=0.1)
        plain.load_state_dict(state)  # it loads anywhere
        theirs = whole.state_dict()["state"]
        same = all(torch.equal(state["state"][i]["exp_avg"], theirs[i]["exp_avg"]) for i in theirs)
    again = ZeroRedundancyOptimizer(net.parameters(), torch.optim.Adam, lr=0.1)
    again.load_state_dict(whole.state_dict())
    total = sum(p.numel() for p in net.parameters())
    return {"worst": found, "bits": [digest(net.parameters())], "share": kept / (2 * total), "same": same}


def checkpoint(rank, size):
    """What rank 0 saves loads in a plain network and in a wrapped one."""
    import io

    torch.manual_seed(rank)
    net = DDP(models.lenet())
    held = [None]
    if rank == 0:
        file = io.BytesIO()
        torch.save(net.module.state_dict(), file)
        held = [file.getvalue()]
    dist.broadcast_object_list(held)
    plain, other = models.lenet(), DDP(models.lenet())
    state = torch.load(io.BytesIO(held[0]))
    plain.load_state_dict(state)
    other.module.load_state_dict(state)
    return {
        "worst": 0.0,
        "bits": [digest(plain.parameters()), digest(other.parameters()), digest(net.parameters())],
    }


def different_networks(rank, size):
    try:
        DDP(nn.Linear(2, 1 + rank))
    except RuntimeError as error:
        return {"said": str(error)}
    return {"said": ""}


CASES = [
    lenet,
    lenet_small_buckets,
    resnet18,
    gpt,
    unused,
    uneven,
    uneven_numbers,
    accumulated,
    buffers,
    sync_batchnorm,
    zero,
    checkpoint,
]
SAID = {
    unused_without_looking: "Parameters which did not receive grad for rank {rank}: second.weight, second.bias, never",
    early_termination: "exhausted",
    different_networks: "DDP expects same model across all ranks, but Rank {other}'s has weight of shape",
}
OTHERS = [half_hooks]


def main(path, *names):
    warnings.simplefilter("error")
    dist.init_process_group("mpi")
    rank, size, found = dist.get_rank(), dist.get_world_size(), {}
    for case in [*CASES, *SAID, *OTHERS]:
        if not names or case.__name__ in names:
            try:
                found[case.__name__] = case(rank, size)
            except Exception:
                found[case.__name__] = traceback.format_exc()
            dist.barrier()
    with open(f"{path}.{rank}", "w") as file:
        json.dump(found, file)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
