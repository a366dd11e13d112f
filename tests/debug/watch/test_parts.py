"""Models without a common module: what a loop calls one after the other is one model, with its inputs and weights."""

import numpy as np
import pytest

import vistorch
from tests.debug.watch.loops import F
from tests.debug.watch.test_measures import always
from vistorch import nn, optim
from vistorch.debug.watch import watch

WORDS = 11


@pytest.fixture
def words():
    vistorch.manual_seed(0)
    ids = vistorch.tensor(np.random.default_rng(0).integers(0, WORDS, (4, 9)))
    return ids[:, :-1], ids[:, 1:]


class Language(nn.Module):
    """A model that is used by its methods and never called."""

    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(WORDS, 8), nn.Linear(8, WORDS)

    def loss(self, given, asked):
        return F.cross_entropy(self.head(self.embed(given)).reshape(-1, WORDS), asked.reshape(-1))


def train(loss, opt, model=None, *, modules=(), steps=6, names=None):
    run = watch(model, opt if model is not None else None)
    run.names = names
    with always(run):
        for _ in range(steps):
            opt.zero_grad()
            loss().backward()
            opt.step()
        for m in modules:
            m.eval()
        with vistorch.no_grad():
            for _ in range(2 if modules else 0):
                loss()
    assert run.says == [], run.says
    return run


def test_loose_modules_are_a_language_model(words):
    given, asked = words
    embed, head = nn.Embedding(WORDS, 8), nn.Linear(8, WORDS)
    opt = optim.Adam([*embed.parameters(), *head.parameters()])

    def loss():
        return F.cross_entropy(head(embed(given)).reshape(-1, WORDS), asked.reshape(-1))

    def names():
        return {p: f"{n}.{k}" for n, m in (("embed", embed), ("head", head)) for k, p in m.named_parameters()}

    run = train(loss, opt, modules=(embed, head), names=names)
    task = run.state()["task"]
    assert task["kind"] == "language" and run.state()["head"]["parameters"] == WORDS * 8 + 9 * WORDS
    assert task["tokens"]["window"]["n"] == 6 * asked.numel()
    assert task["tokens"]["validation"]["n"] == 2 * asked.numel()
    assert run.state()["flow"]["names"] == ["embed.weight", "head.weight", "head.bias"]
    kept = embed.weight.detach().numpy().copy()
    run.rewind(1)
    assert not np.array_equal(embed.weight.detach().numpy(), kept), "all parts go back, not only the largest"


@pytest.mark.parametrize("given_model", [True, False], ids=["given", "found"])
def test_a_model_that_is_used_by_its_methods(words, given_model):
    net = Language()
    run = train(
        lambda: net.loss(*words), optim.Adam(net.parameters()), net if given_model else None, modules=(net,)
    )
    assert run.state()["task"]["kind"] == "language"
    assert run.state()["task"]["tokens"]["validation"]["n"] == 64
    names = run.state()["flow"]["names"]
    assert len(names) == 3 and (not given_model or names == [n for n, _ in net.named_parameters()])


def test_the_parts_of_an_autoencoder():
    vistorch.manual_seed(0)
    down, up = nn.Sequential(nn.Linear(12, 3), nn.Tanh()), nn.Linear(3, 12)
    x = vistorch.rand(16, 12)
    run = train(
        lambda: F.binary_cross_entropy_with_logits(up(down(x)), x),
        optim.Adam([*down.parameters(), *up.parameters()]),
        modules=(down, up),
    )
    assert run.state()["task"]["kind"] == "regression" and len(run.state()["flow"]["names"]) == 4
    assert run.state()["task"]["values"]["validation"] is not None


def test_a_difference_by_hand_behind_two_modules():
    vistorch.manual_seed(0)
    body, head = nn.Linear(2, 4), nn.Linear(4, 1)
    x, y = vistorch.rand(20, 2), vistorch.rand(20, 1)
    run = train(
        lambda: ((head(body(x).tanh()) - y) ** 2).mean(),
        optim.SGD([*body.parameters(), *head.parameters()], lr=0.1),
        modules=(body, head),
    )
    assert run.state()["task"]["kind"] == "regression"
    assert run.state()["task"]["values"]["validation"] is not None


def test_a_cell_that_is_called_again_and_again_is_one_batch():
    vistorch.manual_seed(0)
    cell, head = nn.GRUCell(3, 5), nn.Linear(5, 4)
    x, y = vistorch.rand(7, 6, 3), vistorch.randint(0, 4, (6,))

    def loss():
        h = vistorch.zeros(6, 5)
        for t in range(7):
            h = cell(x[t], h)
        return F.cross_entropy(head(h), y)

    run = train(loss, optim.Adam([*cell.parameters(), *head.parameters()]), modules=(cell, head))
    state = run.state()
    assert (
        state["accuracy"]["window"]["seen"].sum() == 36
        and state["accuracy"]["validation"]["seen"].sum() == 12
    )


def test_tensors_beside_a_module_are_watched_with_it():
    net, scale = nn.Linear(3, 2), vistorch.ones(2, requires_grad=True)
    x, y = vistorch.rand(8, 3), vistorch.randint(0, 2, (8,))
    opt = optim.SGD([*net.parameters(), scale], lr=0.5)
    run = train(lambda: F.cross_entropy(net(x) * scale, y), opt, names=lambda: {scale: "scale"})
    assert run.state()["flow"]["names"] == ["weight", "bias", "scale"]
    after = scale.detach().clone()
    run.rewind(1)
    assert abs(scale - after).max() > 0.01, "what is beside the module goes back too"


def test_a_teacher_that_is_called_first_is_no_part():
    net, teacher = nn.Linear(3, 2), nn.Linear(3, 2)
    x = vistorch.rand(8, 3)

    def loss():
        with vistorch.no_grad():
            wanted = teacher(x)
        return F.mse_loss(net(x), wanted)

    for model in (net, None):
        run = train(loss, optim.SGD(net.parameters(), lr=0.1), model)
        assert run.model is net and run.state()["task"]["kind"] == "regression"
        assert run.state()["task"]["values"]["validation"] is None, "the teacher's pass is no validation"
