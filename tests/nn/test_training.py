"""Whole networks trained for some steps in both libraries from one seed: the losses must be the same.

Layers, losses, initial values, dropout's random numbers and optimizers have to agree for that, all at once.
"""

import numpy as np

from benchmarks import models
from tests.story import story

STEPS = 6


def data(L, *shape, dtype=None):
    values = L.tensor(np.random.default_rng(len(shape)).normal(size=shape).astype("f4"))
    return values if dtype is None else values.to(dtype)


def labels(L, classes, *shape):
    return L.tensor(np.random.default_rng(7).integers(0, classes, shape))


def train(L, report, model, loss, optimizer, values=True):
    for _ in range(STEPS):
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        report(value.item())
    if values:
        report(*[p.detach().abs().sum().item() for p in model.parameters()])


@story(rtol=1e-3, atol=1e-5)
def test_lenet(L, report):
    model = models.lenet(L.nn)
    x, y = data(L, 8, 3, 32, 32), labels(L, 10, 8)
    optimizer = L.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    train(L, report, model, lambda: L.nn.CrossEntropyLoss()(model(x), y), optimizer)


@story(rtol=1e-3, atol=1e-5)
def test_residual_network(L, report):
    model = L.nn.Sequential(
        *list(models.resnet18(L.nn).children())[:5],
        L.nn.AdaptiveAvgPool2d(1),
        L.nn.Flatten(),
        L.nn.Linear(64, 10),
    )
    x, y = data(L, 4, 3, 16, 16), labels(L, 10, 4)
    optimizer = L.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4, nesterov=True)
    train(
        L, report, model, lambda: L.nn.functional.cross_entropy(model(x), y, label_smoothing=0.1), optimizer
    )
    model.eval()
    with L.no_grad():
        report(model(x))


@story(rtol=1e-3, atol=1e-5)
def test_language_model_of_transformer_blocks(L, report):
    model = models.gpt(L, vocabulary=20, width=32, heads=4, length=12)
    tokens = labels(L, 20, 3, 12)
    optimizer = L.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95))

    def loss():
        out = model(tokens[:, :-1])
        return L.nn.functional.cross_entropy(out.reshape(-1, 20), tokens[:, 1:].reshape(-1))

    train(L, report, model, loss, optimizer)


@story(rtol=1e-3, atol=1e-5)
def test_language_model_of_lstm(L, report):
    model = models.language_lstm(L, vocabulary=20, width=16)
    tokens = labels(L, 20, 7, 3)
    optimizer = L.optim.RMSprop(model.parameters(), lr=0.01)

    def loss():
        value = L.nn.functional.cross_entropy(model(tokens[:-1]).reshape(-1, 20), tokens[1:].reshape(-1))
        return value

    train(L, report, model, loss, optimizer)


@story(rtol=1e-3, atol=1e-5)
def test_dropout_and_batch_norm(L, report):
    nn = L.nn
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding="same", padding_mode="reflect", bias=False),
        nn.BatchNorm2d(8),
        nn.LeakyReLU(0.1),
        nn.Dropout2d(0.25),
        nn.AvgPool2d(2),
        nn.Conv2d(8, 8, 3, groups=4),
        nn.GroupNorm(2, 8),
        nn.SiLU(),
        nn.Flatten(),
        nn.Dropout(0.5),
        nn.Linear(8 * 4, 5),
        nn.LogSoftmax(1),
    )
    x, y = data(L, 6, 1, 8, 8), labels(L, 5, 6)
    optimizer = L.optim.Adam(model.parameters(), lr=0.01)
    train(L, report, model, lambda: nn.NLLLoss()(model(x), y), optimizer)
    report(model.state_dict())


@story(rtol=1e-3, atol=1e-5)
def test_variational_autoencoder(L, report):
    nn, F = L.nn, L.nn.functional

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.mean, self.spread = nn.Linear(20, 12), nn.Linear(12, 3), nn.Linear(12, 3)
            self.up, self.out = nn.Linear(3, 12), nn.Linear(12, 20)

        def forward(self, x):
            h = F.relu(self.inner(x))
            mean, spread = self.mean(h), self.spread(h)
            z = mean + L.randn_like(mean) * L.exp(0.5 * spread)
            return L.sigmoid(self.out(F.relu(self.up(z)))), mean, spread

    model = Net()
    x = L.sigmoid(data(L, 5, 20))
    optimizer = L.optim.Adam(model.parameters())

    def loss():
        again, mean, spread = model(x)
        near = F.binary_cross_entropy(again, x, reduction="sum")
        return near - 0.5 * L.sum(1 + spread - mean.pow(2) - spread.exp())

    train(L, report, model, loss, optimizer)


@story(rtol=1e-3, atol=1e-5)
def test_two_networks_against_each_other(L, report):
    nn = L.nn
    maker = nn.Sequential(
        nn.ConvTranspose2d(6, 8, 4),
        nn.BatchNorm2d(8),
        nn.ReLU(True),
        nn.ConvTranspose2d(8, 1, 4, 2, 1),
        nn.Tanh(),
    )
    judge = nn.Sequential(
        nn.Conv2d(1, 8, 4, 2, 1), nn.LeakyReLU(0.2, inplace=True), nn.Conv2d(8, 1, 4), nn.Flatten()
    )
    first = L.optim.Adam(maker.parameters(), lr=2e-3, betas=(0.5, 0.999))
    second = L.optim.Adam(judge.parameters(), lr=2e-3, betas=(0.5, 0.999))
    real, criterion = data(L, 4, 1, 8, 8), nn.BCEWithLogitsLoss()
    for _ in range(STEPS):
        made = maker(L.randn(4, 6, 1, 1))
        judge.zero_grad()
        wrong = criterion(judge(real), L.ones(4, 1)) + criterion(judge(made.detach()), L.zeros(4, 1))
        wrong.backward()
        second.step()
        maker.zero_grad()
        fooled = criterion(judge(made), L.ones(4, 1))
        fooled.backward()
        first.step()
        report(wrong.item(), fooled.item())


@story(rtol=1e-3, atol=1e-5)
def test_a_sequence_classified_by_attention(L, report):
    nn = L.nn
    layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.1, batch_first=True, norm_first=True)
    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    model = nn.ModuleDict(
        {"embed": nn.Embedding(11, 16, padding_idx=0), "encoder": encoder, "head": nn.Linear(16, 3)}
    )
    tokens, y = labels(L, 11, 4, 9), labels(L, 3, 4)
    optimizer = L.optim.NAdam(model.parameters(), lr=0.01)

    def loss():
        x = model["encoder"](model["embed"](tokens), src_key_padding_mask=tokens == 0)
        return nn.functional.cross_entropy(model["head"](x.mean(1)), y)

    # the bias of the keys has no gradient but rounding, which NAdam makes steps of
    train(L, report, model, loss, optimizer, values=False)


@story(rtol=1e-3, atol=1e-5)
def test_sequences_of_different_lengths(L, report):
    nn = L.nn
    gru, head = nn.GRU(5, 6, bidirectional=True, batch_first=True), nn.Linear(12, 1)
    model = nn.ModuleList([gru, head])
    parts = [data(L, n, 5) for n in (4, 7, 2)]
    optimizer = L.optim.Adagrad(model.parameters(), lr=0.1)

    def loss():
        packed = nn.utils.rnn.pack_sequence(parts, enforce_sorted=False)
        out, _ = gru(packed)
        out, lengths = nn.utils.rnn.pad_packed_sequence(out, batch_first=True)
        return nn.functional.huber_loss(head(out).squeeze(-1).sum(1), lengths.to(out.dtype))

    train(L, report, model, loss, optimizer)


@story(rtol=1e-3, atol=1e-5)
def test_a_penalty_on_the_gradient(L, report):
    """Training through a second derivative."""
    nn = L.nn
    model = nn.Sequential(nn.Linear(4, 8), nn.Softplus(), nn.LayerNorm(8), nn.Linear(8, 1))
    x = data(L, 6, 4).requires_grad_()
    optimizer = L.optim.SGD(model.parameters(), lr=0.05)

    def loss():
        out = model(x)
        (slope,) = L.autograd.grad(out.sum(), x, create_graph=True)
        return out.pow(2).mean() + (slope.norm(dim=1) - 1).pow(2).mean()

    train(L, report, model, loss, optimizer)


@story(rtol=1e-3, atol=1e-5)
def test_a_frozen_network_with_a_new_head(L, report):
    nn = L.nn
    model = models.lenet(nn)
    for p in model.parameters():
        p.requires_grad = False
    model[-1] = nn.Linear(84, 2)
    x, y = data(L, 4, 3, 32, 32), labels(L, 2, 4)
    optimizer = L.optim.SGD(
        [{"params": model[-1].parameters(), "lr": 0.1}, {"params": model[:-1].parameters()}], lr=1.0
    )
    before = model[0].weight.clone()
    train(L, report, model, lambda: nn.functional.cross_entropy(model(x), y), optimizer)
    report(bool((before == model[0].weight).all()), [p.grad is None for p in model.parameters()])
