"""`%%vt watch`: a cell that is watched behaves as one that is not, and its last state is shown, whatever ends it."""

import re

import pytest

import vistorch as L
from tests.debug.watch.loops import small_training
from vistorch import vt
from vistorch.debug.watch import Run
from vistorch.debug.watch.listener import LoopListener
from vistorch.engine.base.events import _listeners

START = """import vistorch as torch
from vistorch import nn
torch.manual_seed(0)
X = torch.randn(60, 4)
Y = (X[:, 0] > 0).long() + (X[:, 1] > 0).long()
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def train(n=1):
    for i in range(n):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(X), Y)
        loss.backward()
        opt.step()"""


def bare(text):
    """What was printed, without colours and without the line that stays up to date."""
    line, _, table = re.sub(r"\x1b\[[0-9;]*m", "", text).rpartition("\r")[2].partition("\n")
    return table if "step/s" in line else f"{line}\n{table}"


@pytest.fixture
def started(type_in):
    type_in(START)
    yield type_in
    assert not [one for one in _listeners if isinstance(one, LoopListener)]


LOOP = """%%vt watch --name run
noted = []
for epoch in range(3):
    for i in range(0, len(X), 15):
        opt.zero_grad()
        nn.functional.cross_entropy(net(X[i:i+15]), Y[i:i+15]).backward()
        opt.step()
        noted.append(run.steps)"""


def test_the_cell_itself_says_how_many_steps_there_will_be(started, shell):
    started(LOOP)
    assert shell.user_ns["noted"] == [12] * 12 and shell.user_ns["run"].steps == 12
    started(LOOP.replace("range(3)", "range(2)").replace("opt.step()", "opt.step(); opt.step()"))
    assert shell.user_ns["noted"][-1] is None  # what was guessed was wrong, and is dropped
    started(LOOP.replace("run\n", "run --steps 50\n", 1))
    assert shell.user_ns["noted"][-1] == 50


def test_plain_tensors_have_the_names_of_the_cell(started, shell):
    started("w = torch.zeros(4, 3, requires_grad=True)\nby = torch.optim.SGD([w], lr=0.1)")
    started(
        "%%vt watch --name run\nfor i in range(4):\n    by.zero_grad()\n"
        "    nn.functional.cross_entropy(X @ w, Y).backward()\n    by.step()"
    )
    run = shell.user_ns["run"]
    assert (run.step, run.steps, run.state()["flow"]["names"]) == (4, 4, ["w"])


# ---- the cell ------------------------------------------------------------------------------------------------------
def test_a_cell_runs_as_usual_and_a_table_follows(started, shell):
    typed = started("%%vt watch\ntrain(20)\nprint('said')\n6 * 7")
    assert typed.result.success
    assert "said\n" in typed.out and "42" in typed.out and shell.user_ns["_"] == 42
    seen = bare(typed.err)
    assert "Finished after step 20\nloss " in seen
    assert "class  accuracy  right / seen" in seen


def test_what_is_computed_is_what_it_is_without(started, shell):
    started("train(15)")
    plain = [p.tolist() for p in shell.user_ns["net"].parameters()]
    started(START)
    started("%%vt watch --snapshot-every 2 --share 0.5\ntrain(15)")
    assert [p.tolist() for p in shell.user_ns["net"].parameters()] == plain


def test_options(started, shell):
    started("names = {'b': 1, 'a': 0, 'c': 2}")
    typed = started(
        "%%vt watch net opt --classes names --steps 40 --epochs 2 --snapshot-every 5 --title 'my run' --name run\n"
        "train(20)"
    )
    run = shell.user_ns["run"]
    assert typed.result.success and isinstance(run, Run)
    assert run.accuracy()["classes"] == ["a", "b", "c"] and run.steps == 40 and run.title == "my run"
    assert run.snapshot_every == 5
    assert bare(typed.err).startswith("my run\nFinished after step 20 of 40\n")


def test_the_run_is_there_while_its_cell_runs_and_may_be_stopped(started, shell):
    typed = started(
        "%%vt watch --name run\nfor i in range(50):\n    train()\n    if i == 9:\n        run.stop()\nafter = 1"
    )
    assert typed.result.success and not typed.result.error_in_exec
    assert shell.user_ns["run"].status == "stopped" and shell.user_ns["run"].step == 11
    assert shell.user_ns["i"] == 10 and "after" not in shell.user_ns
    assert "Traceback" not in typed.out + typed.err and "Stopped after step 11" in bare(typed.err)
    assert started("print('on')").out == "on\n"


def test_an_exception_leaves_the_last_state_and_one_traceback(started, shell):
    before = vars(shell).get("showtraceback")
    typed = started("%%vt watch --name run\ntrain(5)\n1 / 0\nz = 1")
    assert isinstance(typed.result.error_in_exec, ZeroDivisionError) and "z" not in shell.user_ns
    run = shell.user_ns["run"]
    assert run.status == "error" and run.error["kind"] == "ZeroDivisionError" and run.error["line"] == 3
    seen = re.sub(r"\x1b\[[0-9;]*m", "", typed.out)
    assert seen.count("Traceback (most recent call last)") == 1
    assert seen.count("ZeroDivisionError") == 2  # at both ends of it
    assert "Error after step 5" in bare(typed.err)
    for ours in ("run_cell_magic", "vistorch/vt", "running.py"):
        assert ours not in seen
    assert vars(shell).get("showtraceback") is before
    assert started("print('on')").out == "on\n"


def test_an_interrupt_leaves_the_last_state(started, shell):
    typed = started("%%vt watch --name run\ntrain(4)\nraise KeyboardInterrupt")
    assert isinstance(typed.result.error_in_exec, KeyboardInterrupt)
    assert shell.user_ns["run"].status == "interrupted"
    assert "Interrupted in step 5; shown: the last whole step, 4." in bare(typed.err)


def test_an_interrupt_shows_the_own_line_and_no_library(started, shell):
    started("class Stop(nn.Module):\n    def forward(self, x):\n        raise KeyboardInterrupt")
    typed = started("%%vt watch\ntrain(2)\nnn.Sequential(nn.Linear(4, 4), Stop())(X)")
    seen = re.sub(r"\x1b\[[0-9;]*m", "", typed.out)
    assert "nn.Sequential(nn.Linear(4, 4), Stop())(X)" in seen and "raise KeyboardInterrupt" in seen
    typed = started("%%vt watch\ntrain(2)\n__import__('_thread').interrupt_main()\ntrain(500)")
    seen = re.sub(r"\x1b\[[0-9;]*m", "", typed.out)
    assert "KeyboardInterrupt" in seen and "site-packages" not in seen and "vistorch/engine" not in seen


def test_an_interrupt_while_the_loop_is_held(started, shell):
    cell = """%%vt watch --name run
def interrupt():
    if run.status == "paused":
        raise KeyboardInterrupt
run.poll = interrupt
for _ in range(9):
    train()
    run.pause()"""
    typed = started(cell)
    assert isinstance(typed.result.error_in_exec, KeyboardInterrupt)
    run = shell.user_ns["run"]
    assert run.status == "interrupted" and run.step == 2 and not run.commands.paused
    assert started("%%vt watch\ntrain(3)").result.success


def test_a_cell_that_cannot_be_read(started):
    typed = started("%%vt watch\ny = = 1")
    assert isinstance(typed.result.error_in_exec, SyntaxError)
    assert re.sub(r"\x1b\[[0-9;]*m", "", typed.out).count("SyntaxError") == 1


def test_a_cell_that_trains_nothing(started):
    assert bare(started("%%vt watch\nprint(3)").err) == "Finished\n"


@pytest.mark.parametrize(
    "cell",
    ["%%vt trace\n%%vt watch\ntrain(6)", "%%vt watch\n%%vt trace\ntrain(6)", "%%vt watch\n%%vt watch\ntrain(6)",
     "%%vt watch\n%%time\ntrain(6)", "%%vt watch\n%%vt record r\ntrain(6)"],
)  # fmt: skip
def test_cells_within_cells(started, cell):
    typed = started(cell)
    assert typed.result.success, typed.err
    assert typed.err.count("Finished after step 6\n") == cell.count("watch")
    assert typed.err.count("class  accuracy") == cell.count("watch")
    if "trace" in cell:
        assert re.search(r"There is no bad value in \d+ ops forward and 42 back\.", typed.out)


def test_the_classes_of_the_data_are_found(started, shell):
    started(
        "class Data(torch.utils.data.TensorDataset):\n    classes = ['low', 'mid', 'high']\n"
        "part = torch.utils.data.Subset(Data(X, Y), range(48))\n"
        "def epochs(n):\n    for _ in range(n):\n        for x, y in torch.utils.data.DataLoader(part, batch_size=8):\n"
        "            opt.zero_grad()\n            nn.functional.cross_entropy(net(x), y).backward()\n"
        "            opt.step()"
    )
    typed = started("%%vt watch --epochs 2 --name run\nepochs(2)")
    assert shell.user_ns["run"].accuracy()["classes"] == ["low", "mid", "high"]
    assert "Finished after step 12 of 12, epoch 2" in bare(typed.err) and "high" in bare(typed.err)
    started("%%vt watch --classes part --name run\ntrain(2)")
    assert shell.user_ns["run"].accuracy()["classes"] == ["low", "mid", "high"]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("--steps x", "--steps does not take 'x': type --steps NUMBER"),
        ("--steps -3", "steps is a whole number from 1 on, not -3: type --steps 100"),
        (
            "--snapshot-every -1",
            "snapshot-every is a whole number from 0 on, not -1: type --snapshot-every 100",
        ),
        ("--share 2", "share is a part of the loop's time from 0 to 1, not 2.0: type --share 0.05"),
        (
            "--classes 5",
            "classes is a list of names, or a dataset that has some, not int: type --classes \"['cat',",
        ),
        ("--classes nothing", "NameError: name 'nothing' is not defined"),
        ("--class X", "`%%vt watch` has no option --class; did you mean --classes?"),
        ("nett", "NameError: name 'nett' is not defined; did you mean net"),
        ("opt", "watch takes a module, not SGD: leave it out to have it found"),
        ("net net", "watch takes an optimizer, not Sequential: leave it out to have it found"),
        ("net opt more", "`%%vt watch` does not take 'more': type `%%vt watch`"),
        ("--name 1a", "--name is also the variable that holds the run, and '1a' cannot be one"),
        ("--live maybe", "--live does not take 'maybe': type --live auto, on or off"),
    ],
)
def test_mistakes_are_one_line_and_nothing_runs(started, sentence, typed, said, shell):
    assert sentence(f"%%vt watch {typed}\nran = True").startswith(said)
    assert "ran" not in shell.user_ns


def test_it_needs_a_cell(sentence):
    assert sentence("%vt watch").startswith("`watch` needs a cell: type `%%vt watch` on its first line")


def test_options_and_names_are_completed(started, shell):
    from vistorch.vt.completion import complete

    def offered(text):
        return [one.text for one in complete(text, 0, shell)["completions"]]

    assert offered("%%vt wat") == ["watch"]
    assert {"--classes", "--snapshot-every", "--share"} <= set(
        offered("%%vt watch --s") + offered("%%vt watch --c")
    )
    assert "net" in offered("%%vt watch n")
    assert "net" in offered("%vt flow n")
    assert "X" in offered("%%vt watch --classes X")


# ---- the function --------------------------------------------------------------------------------------------------
def test_as_a_context_it_is_the_run(capsys):
    net, opt, loop = small_training()
    with vt.watch(net, opt, classes=["a", "b", "c"], name="mine") as run:
        loop(5)
    assert run.step == 5 and run.status == "finished"
    assert "Finished after step 5" in capsys.readouterr().err
    bundle = run._repr_mimebundle_()
    assert bundle["text/plain"].startswith("Finished after step 5") and bundle["image/svg+xml"].startswith(
        "<svg"
    )


@pytest.mark.parametrize(
    "wrong",
    [{"model": 3}, {"optimizer": "sgd"}, {"steps": 0}, {"steps": True}, {"share": 0}, {"share": "much"},
     {"classes": "cat"}, {"classes": {"a": "b"}}, {"classes": []}, {"live": "perhaps"}],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(vt.Refusal):
        vt.watch(**wrong)


def test_two_watches_at_once_are_two_runs(capsys):
    net, opt, loop = small_training()
    other, other_opt, other_loop = small_training(seed=1)
    with vt.watch(net, opt) as outer, vt.watch(other, other_opt) as inner:
        loop(3)
        other_loop(4)
    assert (outer.step, inner.step) == (3, 4)
    assert capsys.readouterr().err.count("Finished after step") == 2


def test_a_stop_of_the_outer_ends_both(capsys):
    net, opt, loop = small_training()
    with vt.watch(net, opt) as outer:
        with vt.watch(net, opt) as inner:
            loop(2)
            outer.stop()
            loop(3)
        raise AssertionError("not reached")
    assert outer.status == inner.status == "stopped" and outer.step == inner.step == 3


def test_a_run_left_open_is_closed_by_the_next_of_its_model(capsys):
    net, opt, loop = small_training()
    first = vt.watch(net, opt).start()
    loop(2)
    with vt.watch() as second:  # finds the model while it trains
        loop(2)
    assert first.status == "interrupted" and "left open" in first.say and second.step == 2


# ---- flow and show -------------------------------------------------------------------------------------------------
def test_flow(started, sentence):
    assert "No parameter has a gradient: call backward() first" in started("%vt flow net").out
    started("train()")
    seen = started("%vt flow net --title mine").out
    assert seen.startswith("mine\nparameter  shape") and "0.weight   8 × 4" in seen
    assert sentence("%vt flow 5") == "flow takes a module, not int: type %vt flow model"
    assert sentence("%vt flow nn.ReLU()") == "ReLU has no parameters: there is no gradient to show"
    assert "needs a module after a backward pass" in sentence("%vt flow")
    display = vt.flow(L.nn.Linear(1, 1))
    assert display.name == "flow" and display.picture()[0] == "image/svg+xml"
