"""pytorch-metric-learning: losses, miners, distances and reducers on embeddings, and a training with a miner."""

import torch
from pytorch_metric_learning import distances, losses, miners, reducers, regularizers
from reporting import report
from torch import nn

torch.manual_seed(0)
embeddings = torch.randn(24, 8)
labels = torch.arange(24) % 6


def of(name, loss, *more):
    """A loss and its gradients."""
    x = embeddings.clone().requires_grad_()
    value = loss(x, labels, *more)
    value.backward()
    report(name, [value, x.grad])


for name, loss in (
    ("contrastive", losses.ContrastiveLoss()),
    ("triplet", losses.TripletMarginLoss(margin=0.2)),
    ("smooth triplet", losses.TripletMarginLoss(smooth_loss=True, triplets_per_anchor="all")),
    ("ntxent", losses.NTXentLoss(temperature=0.3)),
    ("supcon", losses.SupConLoss()),
    ("circle", losses.CircleLoss()),
    ("lifted", losses.GeneralizedLiftedStructureLoss()),
    ("multi similarity", losses.MultiSimilarityLoss()),
    ("angular", losses.AngularLoss()),
    ("npairs", losses.NPairsLoss()),
    ("fastap", losses.FastAPLoss()),
    ("intra pair", losses.IntraPairVarianceLoss()),
    ("snr", losses.ContrastiveLoss(distance=distances.SNRDistance())),
    ("lp", losses.TripletMarginLoss(distance=distances.LpDistance(p=1), reducer=reducers.MeanReducer())),
    ("dot", losses.TripletMarginLoss(distance=distances.DotProductSimilarity())),
    ("regularized", losses.ContrastiveLoss(embedding_regularizer=regularizers.LpRegularizer())),
    ("threshold", losses.ContrastiveLoss(reducer=reducers.ThresholdReducer(low=0.1, high=0.9))),
):
    of(name, loss)
for name, kind, options in (
    ("arcface", losses.ArcFaceLoss, {}),
    ("cosface", losses.CosFaceLoss, {}),
    ("proxy nca", losses.ProxyNCALoss, {}),
    ("proxy anchor", losses.ProxyAnchorLoss, {}),
    ("soft triple", losses.SoftTripleLoss, {"centers_per_class": 2}),
    ("normalized softmax", losses.NormalizedSoftmaxLoss, {}),
):
    torch.manual_seed(2)
    of(name, kind(num_classes=6, embedding_size=8, **options))
for name, miner in (
    ("hard", miners.BatchHardMiner()),
    ("margin", miners.TripletMarginMiner(margin=0.2, type_of_triplets="semihard")),
    ("similarity", miners.MultiSimilarityMiner()),
    ("pair", miners.PairMarginMiner()),
):
    found = miner(embeddings, labels)
    report(f"miner {name}", [part.float() for part in found])
    of(f"mined {name}", losses.TripletMarginLoss(), found)
memory = losses.CrossBatchMemory(losses.ContrastiveLoss(), embedding_size=8, memory_size=40)
report("memory", [memory(embeddings[at : at + 8], labels[at : at + 8]) for at in (0, 8, 16)])
torch.manual_seed(3)
trunk = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 8))
loss, miner = losses.ArcFaceLoss(num_classes=6, embedding_size=8), miners.MultiSimilarityMiner()
optimizer = torch.optim.SGD([*trunk.parameters(), *loss.parameters()], lr=0.05)
data, seen = torch.randn(24, 10), []
for _ in range(10):
    optimizer.zero_grad()
    out = trunk(data)
    value = loss(out, labels, miner(out, labels))
    value.backward()
    optimizer.step()
    seen.append(value)
report("training", seen)
report("weights", list(trunk.parameters()))
