"""What a loop is about follows from its loss: each kind of loop, written as people write it."""

import warnings

import numpy as np
import pytest

import vistorch
from tests.debug.watch.loops import F, blobs, conv_net, pictures, small_net
from tests.debug.watch.test_measures import always
from vistorch import nn, optim
from vistorch.debug.watch import watch

WORDS = 12


def trained(net, loss, steps=6, classes=None, validate=True, rate=0.01, root=True):
    """Watch a net whose loss is a function of it."""
    opt = optim.Adam(net.parameters(), lr=rate)
    with always(watch(net if root else None, opt, classes)) as run:
        for _ in range(steps):
            opt.zero_grad()
            loss(net).backward()
            opt.step()
        if validate:
            net.eval()
            with vistorch.no_grad():
                for _ in range(2):
                    loss(net)
            net.train()
    assert run.says == [], run.says
    return run


def waves(outputs=1):
    x = vistorch.linspace(-3, 3, 40).reshape(-1, 1)
    y = vistorch.sin(x)
    return x, y if outputs == 1 else vistorch.cat([y, 3 * x + 1], 1)


def net_of(outputs=1):
    vistorch.manual_seed(0)
    return nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, outputs))


class Words(nn.Module):
    """Logits for each position."""

    def __init__(self, words=WORDS, classes=WORDS, first=False):
        super().__init__()
        vistorch.manual_seed(0)
        self.embed = nn.Embedding(words, 8)
        self.rnn = nn.GRU(8, 8, batch_first=not first)
        self.head = nn.Linear(8, classes)

    def forward(self, x):
        return self.head(self.rnn(self.embed(x))[0])


def text(rows=4, length=9, seed=0, words=WORDS):
    return vistorch.tensor(np.random.default_rng(seed).integers(0, words, (rows, length)))


X1, Y1 = waves()
X2, Y2 = waves(2)
IDS = text()
GIVEN, ASKED = IDS[:, :-1], IDS[:, 1:]

REGRESSIONS = {
    "mse_loss": (1, lambda n: F.mse_loss(n(X1), Y1)),
    "sides the other way round": (1, lambda n: F.mse_loss(Y1, n(X1))),
    "as a module": (2, lambda n: nn.MSELoss(reduction="sum")(n(X2), Y2)),
    "l1_loss": (2, lambda n: F.l1_loss(n(X2), Y2)),
    "smooth": (1, lambda n: nn.SmoothL1Loss()(n(X1), Y1)),
    "smooth without a bend": (1, lambda n: F.smooth_l1_loss(n(X1), Y1, beta=0.0)),
    "huber": (1, lambda n: F.huber_loss(n(X1), Y1, delta=0.3)),
    "weights": (2, lambda n: F.mse_loss(n(X2), Y2, weight=vistorch.ones(40, 2))),
    "gaussian": (1, lambda n: F.gaussian_nll_loss(n(X1), Y1, vistorch.ones(40, 1))),
    "by hand": (2, lambda n: ((n(X2) - Y2) ** 2).mean()),
    "by hand, target first": (1, lambda n: (Y1 - n(X1)).square().sum()),
    "by hand, absolute": (1, lambda n: (n(X1) - Y1).abs().mean()),
    "by hand, another shape": (1, lambda n: (n(X1).squeeze(1) - Y1[:, 0]).pow(2).mean()),
    "beside a penalty": (1, lambda n: F.mse_loss(n(X1), Y1) + 1e-3 * n[0].weight.square().sum()),
    "rows without reduction": (1, lambda n: F.mse_loss(n(X1), Y1, reduction="none").mean()),
}


@pytest.mark.parametrize("name", REGRESSIONS)
def test_regressions(name):
    outputs, loss = REGRESSIONS[name]
    net = net_of(outputs)
    x, y = (X1, Y1) if outputs == 1 else (X2, Y2)
    before = net(x).detach().numpy()
    run = trained(net, loss, steps=1)
    task = run.state()["task"]
    assert task["kind"] == "regression" and task["tokens"] is None
    found = task["values"]["window"]
    assert found["n"] == 40 and found["bad"] == 0 and len(found["outputs"]) == outputs
    np.testing.assert_allclose(found["predicted"].T, before, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found["target"].T, y.numpy(), rtol=1e-6, atol=1e-6)
    assert run.tally() is None and run.state()["head"]["accuracy"] is None


@pytest.mark.parametrize("name", REGRESSIONS)
def test_validations_of_regressions(name):
    outputs, loss = REGRESSIONS[name]
    net = net_of(outputs)
    run = trained(net, loss, steps=3)
    with vistorch.no_grad():
        x, y = (X1, Y1) if outputs == 1 else (X2, Y2)
        p, t, value = net(x).numpy().astype(float), y.numpy().astype(float), loss(net).item()
    found = run.state()["task"]["values"]["validation"]
    r2 = [
        1 - ((p[:, k] - t[:, k]) ** 2).sum() / ((t[:, k] - t[:, k].mean()) ** 2).sum() for k in range(outputs)
    ]
    assert [s["r2"] for s in found["scores"]] == pytest.approx(r2, rel=1e-6)
    check = run.state()["validation"][-1]
    assert check["samples"] == 80 and check["accuracy"] is None and check["r2"] == pytest.approx(np.mean(r2))
    if name not in ("by hand, target first", "beside a penalty"):  # a sum by hand is not known to be one
        assert check["loss"] == pytest.approx(value, rel=1e-5)


LANGUAGES = {
    "flattened": (False, lambda n: F.cross_entropy(n(GIVEN).view(-1, WORDS), ASKED.reshape(-1))),
    "classes second": (False, lambda n: F.cross_entropy(n(GIVEN).transpose(1, 2), ASKED)),
    "cut inside": (False, lambda n: F.cross_entropy(n(IDS)[:, :-1].reshape(-1, WORDS), ASKED.reshape(-1))),
    "positions first": (
        True,
        lambda n: F.cross_entropy(n(GIVEN.t().contiguous()).view(-1, WORDS), ASKED.t().reshape(-1)),
    ),
    "log-probabilities": (
        False,
        lambda n: F.nll_loss(n(GIVEN).log_softmax(-1).view(-1, WORDS), ASKED.reshape(-1)),
    ),
}


@pytest.mark.parametrize("name", LANGUAGES)
def test_language_models(name):
    first, loss = LANGUAGES[name]
    net = Words(first=first)
    with vistorch.no_grad():
        logits = net(GIVEN.t()).transpose(0, 1) if first else net(GIVEN)
        each = (
            F.cross_entropy(logits.reshape(-1, WORDS), ASKED.reshape(-1), reduction="none").view(4, 8).numpy()
        )
    run = trained(net, loss, steps=1)
    task = run.state()["task"]
    assert task["kind"] == "language" and task["values"] is None and run.state()["classes"] == []
    found = task["tokens"]["window"]
    assert (found["vocabulary"], found["length"], found["n"], found["shifted"]) == (WORDS, 8, 32, True)
    np.testing.assert_allclose(found["position"], each.mean(0), rtol=1e-5)
    assert found["perplexity"] == pytest.approx(np.exp(each.mean()), rel=1e-5)
    check = run.state()["validation"][-1]
    assert check["samples"] == 64 and check["perplexity"] == pytest.approx(np.exp(check["loss"]))
    worst = found["places"][0]
    row, at = np.unravel_index(each.argmax(), each.shape)
    assert (worst["position"], worst["token"]) == (at, ASKED[row, at].item())
    assert worst["loss"] == pytest.approx(each.max(), rel=1e-5)
    assert worst["before"] == GIVEN[row, : at + 1].tolist()


def test_a_model_that_returns_its_loss():
    class Inside(Words):
        def forward(self, x, y):
            logits = super().forward(x)
            return logits, F.cross_entropy(logits.view(-1, WORDS), y.reshape(-1))

    run = trained(Inside(), lambda n: n(GIVEN, ASKED)[1], steps=2)
    assert run.state()["task"]["kind"] == "language" and run.state()["validation"][-1]["samples"] == 64


def test_one_token_after_a_few():
    net = nn.Sequential(nn.Embedding(WORDS, 4), nn.Flatten(), nn.Linear(12, WORDS))
    run = trained(net, lambda n: F.cross_entropy(n(IDS[:, :3]), IDS[:, 3]), steps=2)
    found = run.state()["task"]["tokens"]["window"]
    assert found["length"] == 1 and found["position"] is None
    assert found["places"][0]["before"] in IDS[:, :3].tolist()


def tags(n):
    return F.cross_entropy(n(GIVEN).view(-1, 5), (GIVEN % 5).reshape(-1))


IMAGES, SHAPES = pictures()
PIXELS = (IMAGES[:, :1] > 1).float()
CLASSIFICATIONS = {
    "classes": (lambda: small_net(), lambda n: F.cross_entropy(n(blobs()[0]), blobs()[1]), 3),
    "pictures": (conv_net, lambda n: F.cross_entropy(n(IMAGES), SHAPES), 3),
    "tags of words": (lambda: Words(classes=5), tags, 5),
    "pixels": (
        lambda: nn.Conv2d(3, 2, 3, padding=1),
        lambda n: F.cross_entropy(n(IMAGES), PIXELS[:, 0].long()),
        2,
    ),
    "pixels by one logit": (
        lambda: nn.Conv2d(3, 1, 3, padding=1),
        lambda n: F.binary_cross_entropy_with_logits(n(IMAGES), PIXELS),
        2,
    ),
    "pixels without channels": (
        lambda: nn.Conv2d(3, 1, 3, padding=1),
        lambda n: F.binary_cross_entropy_with_logits(n(IMAGES).squeeze(1), PIXELS[:, 0]),
        2,
    ),
    "places of a signal": (
        lambda: nn.Conv1d(3, 4, 3, padding=1),
        lambda n: F.cross_entropy(n(IMAGES.flatten(2)), SHAPES[:, None].expand(-1, 144).contiguous()),
        4,
    ),
    "one logit": (
        lambda: nn.Linear(4, 1),
        lambda n: F.binary_cross_entropy_with_logits(n(blobs()[0]), (blobs()[1] > 0).float()[:, None]),
        2,
    ),
    "several answers": (
        lambda: nn.Linear(4, 3),
        lambda n: F.binary_cross_entropy_with_logits(n(blobs()[0]), F.one_hot(blobs()[1], 3).float()),
        3,
    ),
    "classes and boxes": (
        lambda: nn.Linear(4, 7),
        lambda n: (
            F.cross_entropy(n(blobs()[0])[:, :3], blobs()[1]) + F.mse_loss(n(blobs()[0])[:, 3:], blobs()[0])
        ),
        3,
    ),
}


@pytest.mark.parametrize("name", CLASSIFICATIONS)
def test_classifications(name):
    make, loss, classes = CLASSIFICATIONS[name]
    run = trained(make(), loss)
    task = run.state()["task"]
    assert task == {
        "kind": "classification",
        "loss": "",
        "constant": "",
        "values": None,
        "tokens": None,
    }
    assert len(run.state()["classes"]) == classes and run.tally() is not None


def test_one_logit_for_each_pixel_has_two_classes():
    net = nn.Conv2d(3, 1, 1)
    with vistorch.no_grad():
        read = (net(IMAGES) > 0).long().reshape(-1)
    run = trained(net, lambda n: F.binary_cross_entropy_with_logits(n(IMAGES), PIXELS), 1, validate=False)
    real, rows = PIXELS.reshape(-1).long().numpy(), run.metrics.window.rows
    assert rows[:, 1].tolist() == real[-1024:].tolist() and rows[:, 2].tolist() == read.tolist()[-1024:]


def test_answers_that_come_one_a_batch():
    """Batches of one sample hold one answer each; both answers make it a classification, from the first on."""
    net = nn.Linear(4, 1)
    opt = optim.SGD(net.parameters(), lr=0.1)
    x, y = blobs()
    with always(watch(net, opt)) as run:
        for i in range(12):
            opt.zero_grad()
            F.binary_cross_entropy_with_logits(
                net(x[i : i + 1]), (y[i : i + 1] > 0).float()[:, None]
            ).backward()
            opt.step()
    assert run.tasks.kind == "classification"
    assert run.accuracy()["seen"].tolist() == [int((y[:12] == 0).sum()), int((y[:12] > 0).sum())]


def test_a_game_of_two_networks_is_no_classification():
    make, judge = nn.Linear(2, 4), nn.Linear(4, 1)
    a, b = optim.Adam(make.parameters(), lr=1e-3), optim.Adam(judge.parameters(), lr=1e-3)
    x, ones, zeros = blobs()[0][:32], vistorch.ones(32, 1), vistorch.zeros(32, 1)
    loss = F.binary_cross_entropy_with_logits
    for root in (None, make, judge):
        with always(watch(root)) as run:
            for _ in range(12):
                b.zero_grad()
                (loss(judge(x), ones) + loss(judge(make(vistorch.randn(32, 2)).detach()), zeros)).backward()
                b.step()
                a.zero_grad()
                loss(judge(make(vistorch.randn(32, 2))), ones).backward()
                a.step()
        assert run.tasks.kind == "loss" and run.tally() is None and run.state()["classes"] == []


@pytest.mark.parametrize(
    "loss",
    [
        lambda n: n(X1).pow(2).mean(),
        lambda n: F.mse_loss(n(X1), vistorch.ones(40, 1)),
        lambda n: -(F.softmax(n(X1), 0) * Y1).sum(),
        lambda n: (n(X1) - n(X1).mean()).pow(2).mean(),
    ],
)
def test_losses_without_known_targets(loss):
    run = trained(net_of(), loss, steps=8)
    task = run.state()["task"]
    assert task["kind"] == "loss" and task["values"] is None
    assert "R²" not in run.text() and "accuracy" not in run.text()


def test_soft_answers_are_values():
    x = vistorch.rand(20, 4)
    net = nn.Sequential(nn.Linear(4, 2), nn.Linear(2, 4))
    with vistorch.no_grad():
        chances = net(x).sigmoid().numpy()
    run = trained(
        net, lambda n: F.binary_cross_entropy_with_logits(n(x), x) + n[0].weight.pow(2).sum(), steps=1
    )
    found = run.state()["task"]["values"]["window"]
    assert found["echo"] and len(found["outputs"]) == 4
    np.testing.assert_allclose(found["predicted"].T, chances, rtol=1e-6)


def test_the_layout_follows_the_loop():
    net = nn.Linear(4, 3)
    opt = optim.SGD(net.parameters(), lr=0.1)
    x, y = blobs()
    with always(watch(net, opt)) as run:
        for loss in (lambda: F.cross_entropy(net(x), y), lambda: F.mse_loss(net(x), x[:, :3])):
            for _ in range(30):
                opt.zero_grad()
                loss().backward()
                opt.step()
            run.refresh()
            run.tasks.queue(run.transfer)
            run.refresh()
            assert run.tasks.kind == ("regression" if run.tasks.values.rows is not None else "classification")
    assert run.tasks.kind == "regression"


def test_a_second_loss_now_and_then_changes_nothing():
    net = nn.Linear(4, 3)
    opt = optim.SGD(net.parameters(), lr=0.1)
    x, y = blobs()
    with always(watch(net, opt)) as run:
        for i in range(40):
            opt.zero_grad()
            (F.mse_loss(net(x), x[:, :3]) if i % 5 == 4 else F.cross_entropy(net(x), y)).backward()
            opt.step()
            run.refresh()
    assert run.tasks.kind == "classification"


def test_a_metric_beside_the_loss_is_not_the_loss():
    net, (x, y) = net_of(), waves()
    run = trained(
        net, lambda n: F.mse_loss(n(x), y) + 0 * F.l1_loss(n(x).detach(), 2 * y), steps=3, validate=False
    )
    assert run.tasks.values.name == "mse_loss"
    seen = []

    def loss(n):
        out = n(x)
        seen.append(F.l1_loss(out, 2 * y))  # kept: its graph lives on
        return out.pow(2).mean()

    assert trained(net_of(), loss, steps=8, validate=False).tasks.kind == "loss"


def test_shapes_that_were_broadcast_are_said():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = trained(net_of(), lambda n: F.mse_loss(n(X1), Y1[:, 0]), steps=2)
    found = run.state()["task"]["values"]["window"]
    assert found["broadcast"] and found["shape"] == [40, 40]
    assert not trained(net_of(), lambda n: F.mse_loss(n(X1), Y1)).state()["task"]["values"]["window"][
        "broadcast"
    ]


def test_a_rewind_forgets_what_came_after():
    net = net_of()
    opt = optim.SGD(net.parameters(), lr=0.01)
    with always(watch(net, opt)) as run:
        for i in range(6):
            opt.zero_grad()
            F.mse_loss(net(X1), Y1).backward()
            opt.step()
            if i == 1:
                run.snapshot()
        run.refresh()
        run.tasks.queue(run.transfer)
        run.refresh()
        steps = run.tasks.values.rows[:, 0]
        assert steps.max() == 6
        run.rewind()
        opt.zero_grad()
        F.mse_loss(net(X1), Y1).backward()
        opt.step()
    assert run.tasks.values.rows[:, 0].max() <= run.step + 1
