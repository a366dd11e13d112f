"""What is said of tokens, against losses that torch works out and counts by hand."""

import numpy as np
import pytest
import torch

import vistorch
from tests.debug.watch.test_measures import always
from vistorch import nn, optim
from vistorch.debug.watch import watch
from vistorch.debug.watch.language import CONTEXT, RARE, WINDOW, Form, Tokens, ask, name_of
from vistorch.debug.watch.loss_inputs import CLASSES, LossInputs
from vistorch.debug.watch.tasks import form_of
from vistorch.debug.watch.transfer import Transfer
from vistorch.debug.watch.words import table_text
from vistorch.engine.memory.placement import CPU

F = nn.functional


def logits_of(rows, length, vocabulary, seed=0):
    return np.random.default_rng(seed).normal(0, 2, (rows, length, vocabulary)).astype(np.float32)


def taken(
    logits, target, tokens=None, first=False, shifted=False, tokens_of=None, step=1, logs=True, whole=False
):
    """Count a batch, and give its losses as torch works them out."""
    rows, length, vocabulary = logits.shape
    each = torch.nn.functional.cross_entropy(
        torch.tensor(logits).reshape(-1, vocabulary), torch.tensor(target).reshape(-1), reduction="none"
    )
    scores = torch.log_softmax(torch.tensor(logits), -1).numpy() if logs else logits
    order = (1, 0, 2) if first else (0, 1, 2)
    flat = np.ascontiguousarray(scores.transpose(order)).reshape(-1, vocabulary)
    sight = LossInputs(
        CLASSES, flat, np.ascontiguousarray(target.transpose(order[:2])).reshape(-1), CPU, logs=logs
    )
    sight.step, sight.tokens = step, tokens
    found = tokens_of or Tokens()
    found.add([ask(sight, Form(rows, length, first, shifted), Transfer(), whole)])
    return found, each.numpy().reshape(rows, length)


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("logs", [False, True])
def test_losses_are_those_of_torch(first, logs):
    logits, rng = logits_of(5, 7, 11), np.random.default_rng(1)
    target = rng.integers(0, 11, (5, 7))
    tokens, each = taken(logits, target, first=first, logs=logs)
    found = tokens.wire()
    np.testing.assert_allclose(found["position"], each.mean(0), rtol=1e-5)
    assert found["positions"].tolist() == [5] * 7
    assert found["loss"] == pytest.approx(each.mean(), rel=1e-6)
    assert found["perplexity"] == pytest.approx(np.exp(each.mean()), rel=1e-6)
    assert found["accuracy"] == pytest.approx((logits.argmax(-1) == target).mean())
    top = found["places"][0]
    row, at = np.unravel_index(each.argmax(), each.shape)
    assert (top["token"], top["position"], top["read"]) == (target[row, at], at, logits[row, at].argmax())


def test_hard_tokens_and_confused_pairs_are_counted():
    logits, rng = logits_of(20, 30, 6), np.random.default_rng(2)
    target = rng.integers(0, 6, (20, 30))
    target[0, 0] = 5
    tokens, each = taken(logits, target)
    found = tokens.wire()
    means = {int(c): each[target == c].mean() for c in range(6) if (target == c).sum() >= RARE}
    assert [c for c, _, _ in found["hard"]] == sorted(means, key=lambda c: -means[c])
    assert [loss for _, loss, _ in found["hard"]] == pytest.approx(sorted(means.values(), reverse=True))
    read = logits.argmax(-1)
    for a, b, n in found["pairs"]:
        assert a != b and n == int(((target == a) & (read == b)).sum())
    counts = [n for _, _, n in found["pairs"]]
    assert counts == sorted(counts, reverse=True) and counts[0] == max(
        int(((target == a) & (read == b)).sum()) for a in range(6) for b in range(6) if a != b
    )


def test_targets_that_do_not_count_are_nowhere():
    logits, target = logits_of(3, 5, 4), np.random.default_rng(0).integers(0, 4, (3, 5))
    target[:, 2] = -100
    tokens, each = taken(logits, target, whole=True)
    found = tokens.wire()
    assert found["n"] == 12 and found["bad"] == 0 and found["positions"].tolist() == [3, 3, 0, 3, 3]
    assert np.isnan(found["position"][2]) and tokens.loss_count == 12
    assert tokens.loss_sum == pytest.approx(each.sum())  # torch's are 0 there
    assert all(one["token"] >= 0 and -100 not in one["before"] for one in found["places"])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_losses_that_are_not_finite_break_nothing(bad):
    logits, target = logits_of(3, 5, 4), np.random.default_rng(0).integers(0, 4, (3, 5))
    logits[1] = bad
    tokens, each = taken(logits, target)
    found = tokens.wire()
    assert found["n"] == 10 and found["bad"] == 5 and np.isfinite(found["position"]).all()
    assert found["loss"] == pytest.approx(each[[0, 2]].mean(), rel=1e-6)
    assert all(np.isfinite(one["loss"]) for one in found["places"])
    logits[:] = bad
    nothing = taken(logits, target)[0].wire()
    assert (
        nothing["n"] == 0
        and nothing["bad"] == 15
        and nothing["perplexity"] is None
        and nothing["places"] == []
    )


def test_a_perplexity_beyond_all_numbers_is_not_known():
    logits = np.zeros((1, 2, 3), np.float32)
    logits[..., 0] = 5000
    tokens, _ = taken(logits, np.array([[1, 2]]))
    assert tokens.perplexity is None and tokens.mean == pytest.approx(5000)


def test_what_stands_before_a_hard_place():
    logits, rng = logits_of(2, 20, 5), np.random.default_rng(3)
    ids = rng.integers(0, 5, (2, 21))
    for first in (False, True):
        given = ids[:, :-1].T if first else ids[:, :-1]
        tokens, each = taken(logits, ids[:, 1:], tokens=given, first=first, shifted=True)
        for one in tokens.wire()["places"]:
            row = int(np.argmin(abs(each[:, one["position"]] - one["loss"])))
            at = one["position"]
            assert one["before"] == ids[row, max(0, at + 1 - CONTEXT) : at + 1].tolist()
    tokens, each = taken(
        logits, ids[:, 1:], tokens=ids[:, :-1], shifted=False
    )  # another language: its own words
    one = tokens.wire()["places"][0]
    row = int(np.argmin(abs(each[:, one["position"]] - one["loss"])))
    at = one["position"]
    assert one["before"] == ids[row, 1:][max(0, at - CONTEXT) : at].tolist()


def test_of_a_large_batch_whole_sequences_are_looked_at():
    logits, target = logits_of(300, 40, 9), np.random.default_rng(0).integers(0, 9, (300, 40))
    tokens, each = taken(logits, target, whole=True)
    found = tokens.wire()
    assert found["n"] <= WINDOW and len(set(found["positions"].tolist())) == 1
    assert tokens.loss_count == 12_000 and tokens.loss_sum / 12_000 == pytest.approx(each.mean(), rel=1e-5)


def test_of_a_large_vocabulary_a_part_is_searched():
    logits, target = logits_of(4, 32, 40_000), np.random.default_rng(0).integers(0, 40_000, (4, 32))
    tokens, each = taken(logits, target)
    found = tokens.wire()
    assert found["n"] == 128 and 0 < found["looked"] < 128
    assert found["loss"] == pytest.approx(each.mean(), rel=1e-5)


def test_names_show_what_cannot_be_seen():
    assert [name_of([" ", "\n", "\t", "", "a\nb"], i) for i in range(5)] == ["␣", "⏎", "⇥", "∅", "a⏎b"]
    assert name_of(["a"], 3) == "3" and name_of(None, 7) == "7"


def test_the_form_is_not_guessed():
    """Whole numbers that are no words of the classes' vocabulary make no language model."""
    net = nn.Sequential(nn.Embedding(30, 4), nn.Linear(4, 5))
    ids = np.random.default_rng(0).integers(0, 30, (3, 4))
    sight = LossInputs(CLASSES, np.zeros((12, 5), np.float32), ids.reshape(-1) % 5, CPU)
    sight.tokens, sight.sequence = ids, (3, 4)
    assert form_of(sight, net) is None
    same = nn.Sequential(nn.Embedding(5, 4), nn.Linear(4, 5))
    assert form_of(sight, same) is not None
    sight.tokens = None
    assert form_of(sight, same) is None


class Words(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        vistorch.manual_seed(0)
        self.embed, self.head = nn.Embedding(vocabulary, 8), nn.Linear(8, vocabulary)

    def forward(self, x):
        return self.head(self.embed(x))


def trained():
    letters = sorted(set("hello there, world"))
    ids = vistorch.tensor([letters.index(c) for c in "hello there, world" * 4]).view(4, -1)
    net = Words(len(letters))
    opt = optim.SGD(net.parameters(), lr=0.5)
    with always(watch(net, opt, letters)) as run:
        for i in range(20):
            opt.zero_grad()
            F.cross_entropy(net(ids[:, :-1]).view(-1, len(letters)), ids[:, 1:].reshape(-1)).backward()
            opt.step()
            if i == 15:
                with vistorch.no_grad():
                    F.cross_entropy(net(ids[:, :-1]).view(-1, len(letters)), ids[:, 1:].reshape(-1))
    assert run.says == [], run.says
    return run


def test_the_text_names_the_tokens_and_is_stable():
    a, b = trained(), trained()
    assert a.text() == b.text() == table_text(a)
    assert "perplexity" in a.text() and "'␣'" in a.text() and "accuracy by class" not in a.text()
    assert a.text().count("validation perplexity") == 1
    assert [axes.get_xlabel() for axes in a.figure().axes] == ["step", "position"]


def test_a_vocabulary_is_no_list_of_classes():
    """The names of tokens travel where they are shown: a vocabulary has fifty thousand."""
    run = trained()
    state = run.state()
    assert run.tally() is None and state["head"]["accuracy"] is None and state["classes"] == []
    assert set(state["task"]["tokens"]["window"]["names"].values()) <= {*"hello there, world", "␣"}
    assert watch(Words(3), classes=[str(i) for i in range(5000)]).state()["classes"] == []
    assert watch(Words(3), classes=["a", "b"]).state()["classes"] == ["a", "b"]
