"""The kata: each broken cell fails, each answer is right, and what is said of a wrong place is true."""

import json
import math
import re

import pytest

import vistorch
from vistorch import vt
from vistorch.debug.kata import BELTS, KATA
from vistorch.debug.kata.attempt import attempt, broken, facts, parts, ran
from vistorch.debug.kata.judge import RIGHT, WRONG, kept, mended, place
from vistorch.debug.kata.progress import Progress, Standing, load, where
from vistorch.debug.kata.record import KataRecord
from vistorch.tutorials import kata
from vistorch.widgets._frame.user_error import Refusal
from vistorch.widgets.kata import deeds

EACH = pytest.mark.parametrize("one", KATA, ids=[f"{one.number}" for one in KATA])


@pytest.fixture(autouse=True)
def apart(tmp_path, monkeypatch):
    """Nothing is written to the person's own file."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    state = vistorch.get_rng_state()
    yield
    vistorch.set_rng_state(state)


def run(one, code):
    return attempt(one, lambda: ran(one, code))


def test_twelve_in_four_belts():
    assert [one.number for one in KATA] == [*range(1, 13)]
    assert [one.belt for one in KATA[::3]] == [*BELTS]


@EACH
def test_a_broken_cell_keeps_the_rules_and_misses_the_goal(one):
    made = broken(one.number)
    assert not made.trouble
    assert mended(one, made).state == WRONG
    assert kept(one, made).state == RIGHT


@EACH
def test_the_answer_is_right_and_changes_only_the_place(one):
    made = run(one, one.answer)
    assert mended(one, made).state == RIGHT, made
    assert kept(one, made).state == RIGHT, made
    assert not [text for _, text in made.findings]
    for line in one.lines:
        assert place(one, str(line)).state == RIGHT


@EACH
def test_the_tools_point_at_the_place_and_at_no_other(one):
    found = {line for line, _ in broken(one.number).findings if line is not None}
    known, changed = facts(one.number), parts(one.number, run(one, one.answer))
    assert found <= {*one.lines}
    assert known.bad is None or known.bad in one.lines
    assert changed is None or changed in one.lines or changed > min(one.lines)
    tools = [("diagnose", found), ("trace", known.bad), ("compare", changed)]
    assert {name for name, points in tools if points} == {*one.tools}
    for line, nodes in known.nodes.items():
        if line not in one.lines:
            assert all(ok for _, ok in nodes), "a node elsewhere is wrong: the kata has two faults"


@EACH
def test_every_other_line_is_refused_with_a_sentence_about_itself(one):
    for line, text in enumerate(one.code.split("\n"), 1):
        row = place(one, str(line))
        assert row.state == (RIGHT if line in one.lines else WRONG)
        if row.state == WRONG:
            assert row.says.startswith(f"Line {line} ")
            assert ("is empty" in row.says) == (not text.strip())
            assert ("makes no node" in row.says) == (
                line not in facts(one.number).nodes and bool(text.strip())
            )


@pytest.mark.parametrize(
    ("number", "said", "state", "title"),
    [
        (3, "12", RIGHT, "Place named: line 12"),
        (3, " Line 12 ", RIGHT, "Place named: line 12"),
        (3, "(net(x) - y)", RIGHT, "Place named: line 12"),
        (3, "PowBackward0", RIGHT, "Place named: Pow"),
        (3, "sub", RIGHT, "Place named: sub"),
        (3, "TanhBackward0", WRONG, "Not Tanh"),
        (3, "0.05", WRONG, "Which line?"),
        (3, "99", WRONG, "No such place"),
        (3, "<b>nothing</b>", WRONG, "No such place"),
        (4, "LogBackward0", RIGHT, "Place named: Log"),
        (5, "sqrt", RIGHT, "Place named: sqrt"),
    ],
)
def test_a_place_is_a_line_its_text_or_a_node(number, said, state, title):
    row = place(KATA[number - 1], said)
    assert (row.state, row.title) == (state, title)


# Cells that mend it otherwise, or do not: by number, what is replaced, and whether it is right.
OTHER = [
    (1, "p += 0.05 * p.grad", "p.sub_(p.grad, alpha=0.1)", True),
    (1, "((net(x) - y) ** 2).mean()", "-((net(x) - y) ** 2).mean()", True),  # uphill of the opposite
    (3, "net(x) - y", "net(x)[:, 0] - y", True),
    (3, "net(x) - y", "net(x) - y.unsqueeze(1)", True),
    (3, ".mean()", ".sum() * 1e-9", False),  # a smaller loss is not a better network
    (4, "p.log()", "p.clamp(1e-6, 1 - 1e-6).log()", False),  # 1 - p is still 0
    (4, ".sigmoid()", ".sigmoid().clamp(1e-6, 1 - 1e-6)", True),
    (5, ".sum(2).sqrt()", ".sum(2).clamp(min=1e-12).sqrt()", True),
    (6, "nn.functional.cross_entropy(guess, y)", "nn.functional.nll_loss(guess.log(), y)", True),
    (6, "nn.functional.cross_entropy(guess, y)", "nn.functional.cross_entropy(guess, y) * 0.01", False),
    (8, "nn.ReLU()", "nn.LeakyReLU()", True),
    (9, "body(x).data", "body(x).detach()", False),
    (10, "with torch.no_grad():", "net.train(False)\nwith torch.no_grad():", True),
    (11, "classes = sorted(kinds)", "classes = kinds", True),
    (12, "net.state_dict()", "dict(net.state_dict())", False),  # a copy of the names alone
]


@pytest.mark.parametrize(("number", "before", "after", "right"), OTHER)
def test_another_way_is_judged_by_what_the_network_does(number, before, after, right):
    one = KATA[number - 1]
    assert before in one.code
    made = run(one, one.code.replace(before, after))
    assert (mended(one, made).state == RIGHT) == right, made


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("manual_seed(0)", "manual_seed(1)", "Seed 1, but the kata starts from seed 0."),
        ("torch.manual_seed(0)", "pass", "The cell sets no seed, but the kata starts from seed 0."),
        ("range(200)", "range(400)", "400 backward passes, and not 200."),
        ("lr=0.05", "lr=0.01", "The learning rate begins at 0.01, and should at 0.05."),
        ("    optimizer.step()", "    pass", "No optimizer stepped; one with lr 0.05 was asked."),
    ],
)
def test_what_was_changed_besides_is_said(before, after, said):
    one = KATA[2]
    row = kept(one, run(one, one.answer.replace(before, after)))
    assert row.state == WRONG and said in row.says


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("1 / 0", "The cell raised ZeroDivisionError: division by zero"),
        ("x = 1", "The cell must leave the name `net`"),
        ("net = 3", "`net` cannot be measured: "),
    ],
)
def test_a_cell_that_cannot_be_measured_is_a_sentence(code, said):
    made = run(KATA[2], code)
    assert said in mended(KATA[2], made).says
    assert math.isnan(made.value) and kept(KATA[2], made).state == WRONG


def test_a_card_leaves_the_generator_as_it_was():
    vistorch.manual_seed(7)
    before = vistorch.get_rng_state()
    broken.cache_clear()
    facts.cache_clear()
    kata(5, place="3").state()
    assert vistorch.equal(before, vistorch.get_rng_state())
    assert vistorch.initial_seed() == 7


def test_from_the_first_try_to_the_belt():
    assert [row.state for row in kata(3, place="6").record.rows()] == [WRONG, "", ""]
    assert load().of(3) == Standing(tries=1)
    with pytest.raises(Refusal, match="after both hints"):
        kata(3, solution=True)
    assert [len(kata(3, hint=True).state()["cards"][0]["hints"]) for _ in range(3)] == [1, 2, 2]
    card = kata(3, solution=True).state()["cards"][0]
    assert [line[1] for line in card["solution"]] == ["-", "+"]
    kata(3, place="12")
    assert load().of(3).place == "12" and load().next() == 1
    for number in (1, 2):
        progress = load()
        progress.of(number).solved = True
        progress.save()
    assert kata.progress().state()["belts"][0]["solved"] == 2
    assert "[>]" not in kata.progress().text() and " >  3  Every answer" in kata.progress().text()


def test_the_answer_is_not_sent_before_it_is_asked_for():
    for one in KATA:
        card = KataRecord(Progress(), one).wire()["cards"][0]
        sent = json.dumps(
            {name: value for name, value in card.items() if not hasattr(value, "data") and name != "picture"}
        )
        assert not any(hint in sent for hint in one.hints)
        assert json.dumps(one.why)[1:-1] not in sent and json.dumps(one.lesson)[1:-1] not in sent


@pytest.mark.parametrize(
    "content", ["", "[]", "null", '{"3": 4}', '{"x": {}}', '{"3": {"hints": "two"}}', "\x00"]
)
def test_a_damaged_file_begins_anew(content):
    where().parent.mkdir(parents=True)
    where().write_text(content)
    assert load().of(3) == Standing()
    assert kata.progress().text().startswith("kata: 0 of 12")


def test_a_folder_that_cannot_be_written_costs_only_the_memory(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    assert kata(3, place="12").record.rows()[0].state == RIGHT
    assert kata(3).record.rows()[0].state == RIGHT  # for as long as the process lives
    assert not where().exists()


def test_cards_that_were_shown_earlier_lose_nothing_that_came_later():
    early, other = kata(3).record, kata(5).record
    deeds.named(other, "13")
    deeds.ran(KATA[4], run(KATA[4], KATA[4].answer))
    deeds.hinted(early)
    deeds.shown(deeds.hinted(other))
    assert load().of(5).solved and load().of(5).hints == 1 and load().of(3).hints == 1


@pytest.mark.parametrize("number", [0, 13, -1, True, "3", 2.0])
def test_a_number_that_no_kata_has(number):
    with pytest.raises(Refusal, match="there are kata 1 to 12"):
        vt.kata(number)


def test_the_table_is_for_all():
    with pytest.raises(Refusal, match="which kata"):
        vt.kata(hint=True)


@EACH
def test_the_numbers_of_a_symptom_are_those_of_the_run(one):
    names, _ = ran(one, one.code)
    losses = broken(one.number).losses
    known = [losses[0], losses[-1], *(names[name] for name in ("lowest", "error") if name in names)]
    for number in re.findall(r"\d+\.\d+", one.symptom):
        digits = len(number.partition(".")[2])
        assert any(abs(value - float(number)) <= 0.51 * 10**-digits for value in known), (number, known)


def test_the_symptoms_of_units_and_of_steps_are_counted():
    for code, silent in ((KATA[7].code.replace("range(400)", "range(0)"), 9), (KATA[7].code, 11)):
        names, _ = ran(KATA[7], code)
        assert int((names["net"][0](names["x"]).relu().max(0).values == 0).sum()) == silent
    first = next(i for i, loss in enumerate(broken(4).losses) if math.isnan(loss))
    assert first == 11
    names, _ = ran(KATA[11 - 1], KATA[10].code)
    assert len(names["said"]) == 300
