"""What a run sees of loops that know nothing of it, against the loop's own numbers."""

import numpy as np
import pytest

import vistorch
from tests.debug.watch.loops import F, blobs, conv_net, pictures, small_net, small_training
from vistorch import nn, optim
from vistorch.debug.watch import watch
from vistorch.engine.base.events import listeners
from vistorch.utils.data import DataLoader, TensorDataset


def fine(run):
    assert run.says == [], run.says
    return run


def test_losses_rates_and_steps():
    net, opt, loop = small_training()
    with watch(net, opt) as run:
        losses = loop(20)
    state = fine(run).state()
    curve = state["loss"]["curve"]
    assert run.step == 20 and curve["width"] == 1 and curve["from"] == 0
    assert np.isnan(curve["mean"][0, 0])  # steps are counted from 1
    assert curve["mean"][0, 1:].tolist() == np.float32(losses).tolist()
    assert run.loss == pytest.approx(np.mean(losses))
    assert (state["loss"]["lr"]["mean"][0, 1:] == np.float32(0.1)).all()
    assert listeners.phase is None and listeners.backward is None and listeners.op is None


def test_accuracy_and_confusion_are_those_of_the_batches():
    net, opt, _ = small_training()
    x, y = blobs(200)
    labels, read = [], []
    with watch(net, opt, classes=["a", "b", "c"]) as run:
        for i in range(0, 200, 8):
            opt.zero_grad()
            out = net(x[i : i + 8])
            F.cross_entropy(out, y[i : i + 8]).backward()
            opt.step()
            labels += y[i : i + 8].tolist()
            read += out.argmax(1).tolist()
    labels, read = np.array(labels), np.array(read)
    found = fine(run).accuracy()
    assert found["seen"].tolist() == [np.sum(labels == c) for c in range(3)]
    assert found["right"].tolist() == [np.sum((labels == c) & (read == c)) for c in range(3)]
    assert found["accuracy"] == np.mean(labels == read)
    confusion = run.confusion()
    assert all(confusion[a, b] == np.sum((labels == a) & (read == b)) for a in range(3) for b in range(3))


def test_the_window_is_the_newest_1024():
    net, opt, _ = small_training()
    x, y = blobs(600)
    with watch(net, opt) as run:
        for _ in range(3):
            opt.zero_grad()
            F.cross_entropy(net(x), y).backward()
            opt.step()
    assert fine(run).tally().samples == 1024 and run.tally("epoch").samples in (0, 1800)


@pytest.mark.parametrize(
    "loss",
    [
        lambda out, y: F.nll_loss(F.log_softmax(out, 1), y),
        lambda out, y: nn.CrossEntropyLoss(weight=vistorch.tensor([1.0, 2.0, 3.0]))(out, y),
        lambda out, y: 0.5 * F.cross_entropy(out, y) + 1e-3 * (out**2).mean(),
        lambda out, y: F.cross_entropy(out, y, reduction="sum") / len(y),
        lambda out, y: F.nll_loss(F.log_softmax(out, 1) * 1.0, y),
        lambda out, y: F.cross_entropy(out, y, label_smoothing=0.1),
    ],
)
def test_losses_that_know_classes(loss):
    net, opt, _ = small_training()
    x, y = blobs(12)
    with watch(net, opt) as run:
        opt.zero_grad()
        out = net(x)
        loss(out, y).backward()
        read = out.argmax(1).tolist()
        opt.step()
    rows = fine(run).metrics.window.rows
    assert rows[:, 1].tolist() == y.tolist() and rows[:, 2].tolist() == read


def test_targets_that_do_not_count_are_left_out():
    net, opt, _ = small_training()
    x, y = blobs(12)
    y[::3] = -100
    with watch(net, opt) as run:
        F.cross_entropy(net(x), y).backward()
        opt.step()
    assert fine(run).metrics.window.rows[:, 1].tolist() == [c for c in y.tolist() if c >= 0]


def test_a_picture_has_a_label_for_each_pixel():
    net = nn.Conv2d(1, 3, 1)
    opt = optim.SGD(net.parameters(), lr=0.1)
    x, y = vistorch.randn(2, 1, 4, 4), vistorch.randint(0, 3, (2, 4, 4))
    with watch(net, opt) as run:
        out = net(x)
        F.cross_entropy(out, y).backward()
        opt.step()
    rows = fine(run).metrics.window.rows
    assert rows[:, 1].tolist() == y.reshape(-1).tolist()
    assert rows[:, 2].tolist() == out.argmax(1).reshape(-1).tolist()


@pytest.mark.parametrize("logits", [True, False])
def test_yes_or_no(logits):
    vistorch.manual_seed(0)
    net = nn.Linear(4, 1)
    opt = optim.SGD(net.parameters(), lr=0.1)
    x, y = blobs(20)
    y = (y > 0).float().reshape(-1, 1)
    with watch(net, opt) as run:
        out = net(x)
        if logits:
            F.binary_cross_entropy_with_logits(out, y).backward()
        else:
            F.binary_cross_entropy(out.sigmoid(), y).backward()
        opt.step()
    rows = fine(run).metrics.window.rows
    assert run.metrics.classes == 2 and rows[:, 1].tolist() == y.reshape(-1).int().tolist()
    assert rows[:, 2].tolist() == (out > 0).reshape(-1).int().tolist()


def test_several_decisions_a_sample():
    vistorch.manual_seed(0)
    net = nn.Linear(4, 3)
    opt = optim.SGD(net.parameters(), lr=0.1)
    x, _ = blobs(20)
    y = (vistorch.rand(20, 3) > 0.5).float()
    with watch(net, opt) as run:
        out = net(x)
        F.binary_cross_entropy_with_logits(out, y).backward()
        opt.step()
    right = ((out > 0) == (y > 0.5)).sum(0).tolist()
    assert fine(run).accuracy()["right"].tolist() == right and run.accuracy()["seen"].tolist() == [20] * 3
    assert run.metrics.several and run.confusion().sum() == sum(right)


def test_a_loss_of_ones_own_is_observed():
    net, opt, _ = small_training()
    x, y = blobs(12)
    with watch(net, opt) as run:
        out = net(x)
        ((out - F.one_hot(y, 3)) ** 2).mean().backward()
        run.observe(out, y)
        opt.step()
    assert fine(run).metrics.window.rows[:, 2].tolist() == out.argmax(1).tolist()
    with pytest.raises(ValueError, match="observe takes scores"):
        run.observe(out, y[:3])


def test_several_passes_are_one_step_and_only_the_models_count():
    net, opt, _ = small_training()
    other = nn.Linear(4, 3)
    x, y = blobs(20)
    losses = []
    with watch(net, opt) as run:
        for part in (slice(0, 10), slice(10, 20)):
            out = F.cross_entropy(net(x[part]), y[part])
            out.backward()
            losses.append(out.item())
        F.cross_entropy(other(x), y).backward()
        opt.step()
    assert fine(run).step == 1 and run.loss == pytest.approx(np.mean(losses))
    assert len(run.metrics.window.rows) == 20


def test_two_optimizers_the_first_that_steps_counts():
    net = small_net()
    a, b = optim.SGD(net[0].parameters(), lr=0.1), optim.SGD(net[2].parameters(), lr=0.2)
    x, y = blobs(20)
    with watch(net) as run:
        for _ in range(5):
            F.cross_entropy(net(x), y).backward()
            a.step()
            b.step()
    assert fine(run).step == 5 and run.state()["head"]["lr"] == [0.1]


def test_the_model_is_found_by_itself():
    net, opt, _ = small_training()
    loss = nn.CrossEntropyLoss()
    x, y = blobs(20)
    with watch() as run:
        for _ in range(5):
            opt.zero_grad()
            loss(net(x), y).backward()
            opt.step()
    assert fine(run).model is net and run.step == 5 and len(run.metrics.window.rows) >= 80
    assert run.state()["flow"]["names"][0] == "0.weight"


def test_a_closure_is_part_of_its_step():
    net, _, _ = small_training()
    opt = optim.LBFGS(net.parameters(), max_iter=3)
    x, y = blobs(30)

    def closure():
        opt.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        return loss

    with watch(net, opt) as run:
        for _ in range(3):
            opt.step(closure)
    assert fine(run).step == 3 and len(run.metrics.recent) == 3


# ---- loaders -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("options", [{}, {"shuffle": True}])
def test_epochs_and_indices(options):
    x, y = pictures(26)
    x = x * 0 + vistorch.arange(26.0).reshape(-1, 1, 1, 1) / 26  # a picture's brightness is its index
    x[:, 0, 0, 0], x[:, 0, 0, 1] = 0.0, 1.0
    data = TensorDataset(x, y)
    net = conv_net()
    opt = optim.SGD(net.parameters(), lr=0.0)
    loader = DataLoader(data, batch_size=8, **options)
    with watch(net, opt, epochs=3) as run:
        for _ in range(3):
            for a, b in loader:
                opt.zero_grad()
                F.cross_entropy(net(a), b).backward()
                opt.step()
            run.budget.jobs["mistakes"].spent = 0.0  # as if it had cost nothing
            run.refresh()
    head = fine(run).state()["head"]
    assert (head["epoch"], head["epochs"], head["epoch_steps"], head["steps"], head["batch"]) == (
        3,
        3,
        4,
        12,
        8,
    )
    assert [e["epoch"] for e in run.metrics.epochs] == [1, 2, 3]
    assert [int(e["seen"].sum()) for e in run.metrics.epochs] == [26] * 3 and run.metrics.epochs[0][
        "step"
    ] == 4
    found = run.metrics.mistakes.wire()
    assert found
    for m in found:
        assert m["label"] == y[m["index"]].item() != m["read"]
        assert abs(m["image"][6, 6, 0] - round(255 * m["index"] / 26)) <= 1
        assert m["image"].shape == (12, 12, 3)


def test_watching_changes_no_number_and_draws_from_no_generator():
    x, y = pictures(30)

    def train(watched):
        net = nn.Sequential(conv_net(3), nn.Dropout(0.5))
        opt = optim.Adam(net.parameters(), lr=1e-2)
        vistorch.manual_seed(5)
        loader = DataLoader(TensorDataset(x, y), batch_size=7, shuffle=True)
        run = watch(net, opt)
        if watched:
            run.__enter__()
        for _ in range(4):
            for a, b in loader:
                opt.zero_grad()
                F.cross_entropy(net(a), b).backward()
                opt.step()
        if watched:
            run.close()
            fine(run)
        return {
            name: p.detach().numpy().copy() for name, p in net.named_parameters()
        }, vistorch.get_rng_state()

    (plain, state), (seen, other) = train(False), train(True)
    for name, value in plain.items():
        np.testing.assert_array_equal(seen[name], value, err_msg=name)
    assert (state == other).all()


def test_inputs_that_were_overwritten_are_not_shown():
    net, (x, y) = conv_net(), pictures(8)
    opt = optim.SGD(net.parameters(), lr=0.0)
    with watch(net, opt) as run:
        F.cross_entropy(net(x), y).backward()
        x.zero_()
        opt.step()
    found = fine(run).metrics.mistakes.wire()
    assert found and all(m["image"] is None and len(m["top"]) == 3 for m in found)


def test_scores_of_a_mistake():
    net, (x, y) = conv_net(), pictures(8)
    opt = optim.SGD(net.parameters(), lr=0.0)
    with watch(net, opt) as run:
        out = net(x)
        F.cross_entropy(out, y).backward()
        opt.step()
    chances = out.softmax(1).detach().numpy()
    wrong = [i for i in range(8) if chances[i].argmax() != y[i].item()]
    found = fine(run).metrics.mistakes.wire()
    assert len(found) == len(wrong)
    for m in found:
        scores = [p for _, p in m["top"]]
        i = min(wrong, key=lambda i: np.abs(np.sort(chances[i])[::-1] - scores).max())
        wrong.remove(i)
        order = np.argsort(-chances[i], kind="stable")
        assert m["label"] == y[i].item()
        assert [c for c, _ in m["top"]] == order.tolist() and m["read"] == order[0]
        assert [p for _, p in m["top"]] == pytest.approx(chances[i][order], abs=1e-4)


# ---- learning rates and definitions --------------------------------------------------------------------------------
@pytest.mark.parametrize("groups", [1, 2])
def test_each_step_has_its_learning_rate(groups):
    net = small_net()
    given = [net.parameters()] if groups == 1 else [net[0].parameters(), net[2].parameters()]
    opt = optim.SGD([{"params": p, "lr": 0.1 * (i + 1)} for i, p in enumerate(given)], lr=0.1)
    x, y = blobs(10)
    real = []
    with watch(net, opt, snapshot_every=0) as run:
        for i in range(1, 41):
            if i in (7, 8, 30):
                for g in opt.param_groups:
                    g["lr"] = g["lr"] / 2
            real.append([g["lr"] for g in opt.param_groups])
            if i % 9 == 0:
                run.refresh()
            if i == 20:
                run.snapshot()
            if i == 25:
                run.rewind()
            F.cross_entropy(net(x), y).backward()
            opt.step()
    kept = real[:20] + real[25:]  # the end of step 25 went back to the end of step 20
    assert fine(run).step == len(kept) == 35
    assert run.state()["loss"]["lr"]["mean"][:, 1:].T.tolist() == np.float32(kept).tolist()


def test_precision_recall_and_accuracy_by_their_definitions():
    rng = np.random.default_rng(4)
    labels, scores = rng.integers(0, 5, 700), rng.normal(size=(700, 5))
    scores[np.arange(700), labels] += rng.random(700) * 2
    net = small_net(classes=5)
    with watch(net) as run:
        for i in range(0, 700, 70):
            run.observe(scores[i : i + 70], labels[i : i + 70])
    read, found, matrix = scores.argmax(1), fine(run).accuracy(), run.confusion()
    for c in range(5):
        both = np.sum((labels == c) & (read == c))
        assert found["right"][c] / found["seen"][c] == both / np.sum(labels == c)  # recall
        assert matrix[c, c] / matrix[:, c].sum() == both / np.sum(read == c)  # precision
    assert found["accuracy"] == np.trace(matrix) / matrix.sum() == np.mean(labels == read)
    assert (matrix.sum(1) == np.bincount(labels)).all() and (matrix.sum(0) == np.bincount(read)).all()
