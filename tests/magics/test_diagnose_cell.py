"""`%%vt diagnose`: the cell runs as it would, and what is found names its line."""

import pytest

TRAIN = """%%vt diagnose
import vistorch as L
net = L.nn.Linear(3, 1)
opt = L.optim.SGD(net.parameters(), lr=0.01)
for step in range(6):
    loss = (net(L.ones(4, 3)) ** 2).mean()
    loss.backward()
    opt.step()
done = step
"""


@pytest.fixture
def shell():
    from IPython.core.interactiveshell import InteractiveShell

    made = InteractiveShell()
    made.run_line_magic("load_ext", "vistorch")
    yield made
    made.run_line_magic("unload_ext", "vistorch")


def test_a_cell_runs_and_its_line_is_named(shell, capsys):
    shell.run_cell(TRAIN, store_history=True)
    assert shell.user_ns["done"] == 5
    said = capsys.readouterr().out
    at = TRAIN.splitlines().index("    opt.step()") + 1
    assert "1 finding in cell [1], 6 steps" in said
    assert f"[1] line {at} or {at - 1}\n" in said and "opt.step() uses those of earlier steps again" in said


def test_an_exception_of_the_cell_goes_on_its_way(shell, capsys):
    text = "%%vt diagnose\nimport vistorch as L\nL.ones(2, 3) @ L.ones(2, 3)\n"
    result = shell.run_cell(text, store_history=True)
    assert isinstance(result.error_in_exec or result.error_before_exec, RuntimeError)
    said = capsys.readouterr().out
    assert "[1] line 3" in said and "does not fit" in said


def test_a_cell_whose_cures_are_not_to_be_tried_makes_no_copy(shell, capsys, monkeypatch):
    monkeypatch.setattr("os.fork", lambda: pytest.fail("a copy was made"), raising=False)
    shell.run_cell(TRAIN.replace("diagnose\n", "diagnose --no-try\n"), store_history=True)
    said = capsys.readouterr().out
    assert "[1] line 8 or 7\n" in said and "not tried: trials are switched off" in said
    assert "opt.zero_grad()" in said
