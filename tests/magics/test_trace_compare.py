"""`%%vt record` and `%vt compare`: recordings in variables and files."""

import numpy as np
import pytest

import vistorch as L
from vistorch import vt
from vistorch.debug.compare import Recording
from vistorch.engine.base.events import listeners


def recorded(scale, name="", **more):
    x = L.ones(3, requires_grad=True)
    with vt.record(name, **more) as run:
        (x * scale).sin().sum().backward()
    return run


def test_a_context_gives_a_recording_that_is_complete_at_its_end():
    before = listeners.op, listeners.backward
    run = recorded(2.0, "before")
    assert isinstance(run, Recording) and run.title == "before"
    assert [op.name for op in run.ops] == ["mul", "sin", "sum_all"]
    assert np.allclose(run.leaves["x"], 2 * np.cos(2.0))
    assert repr(run) == "recording 'before': 3 ops, gradients of 1 leaf, 80 B"
    assert (listeners.op, listeners.backward) == before


def test_what_ran_before_an_exception_is_kept():
    with pytest.raises(ZeroDivisionError), vt.record() as run:
        L.ones(2).exp()
        raise ZeroDivisionError
    assert [op.name for op in run.ops][-1] == "exp"


def test_it_says_where_two_runs_part():
    shown = vt.compare(recorded(2.0, "two"), recorded(2.5, "more"))
    assert shown.record.kind == "compare" and shown.name == "compare"
    assert shown.record.sentence.startswith(
        "The first difference is in mul (number 1): at [0] it gives 2 and 2.5"
    )
    assert [row["forward"]["state"] for row in shown.record.rows] == ["own", "inherited", "inherited"]
    plain = vt.compare(recorded(2.0), recorded(2.5), plain=True)
    assert {row["forward"]["state"] for row in plain.record.rows} == {"differs"}
    assert vt.compare(recorded(2.0), recorded(2.5), atol=10.0).record.first is None


def test_a_file_says_the_same(tmp_path):
    path = tmp_path / "run.vtr"
    one, other = recorded(2.0, save=path), recorded(2.5)
    assert vt.compare(str(path), other).text() == vt.compare(one, other).text()
    assert vt.compare(path, one).record.sentence == "The runs agree: 3 ops compared."
    assert [p.name for p in tmp_path.iterdir()] == ["run.vtr"]


def test_in_cells(type_in, shell, tmp_path):
    type_in("import vistorch as torch\nw = torch.ones(2, requires_grad=True)")
    typed = type_in("%%vt record before\nprint('ran')\n(w * 2).sum().backward()\nw.grad")
    assert typed.out.startswith("ran\n") and "tensor([2., 2.])" in typed.out
    assert "recording 'before': 2 ops, gradients of 1 leaf, " in typed.out
    assert "type `%vt compare before OTHER`" in typed.out
    path = tmp_path / "after run.vtr"
    seen = type_in(f'%%vt record after --save "{path}"\n(w * 3).sum().backward()').out
    assert path.is_file() and str(path) in seen
    seen = type_in("%vt compare before after").out
    assert "before against after: 2 ops" in seen and "w.grad differs by 1" in seen
    assert type_in(f'%vt compare before "{path}"').out == seen


def test_a_cell_that_fails_keeps_its_recording(type_in, shell):
    type_in("import vistorch as torch")
    typed = type_in("%%vt record run\ny = torch.ones(2).exp()\n1 / 0")
    assert isinstance(typed.result.error_in_exec, ZeroDivisionError)
    assert [op.name for op in shell.user_ns["run"].ops][-1] == "exp"


def test_one_line_each(sentence, type_in, tmp_path):
    type_in("import vistorch as torch")
    type_in("%%vt record good\ntorch.ones(2).exp()")
    (tmp_path / "no.vtr").write_text("hello")
    lines = {
        "%vt compare good": "`%vt compare` needs the other recording",
        "%vt compare good nope": "NameError: name 'nope' is not defined",
        "%vt compare good 3": "the second is a int, no recording: type `%%vt record NAME`",
        "%vt compare 'gone.vtr' good": "there is no file 'gone.vtr'",
        f"%vt compare '{tmp_path / 'no.vtr'}' good": f"{tmp_path / 'no.vtr'} is no recording: ",
        "%vt compare good good --rtol -1": "rtol is a number from 0 up",
        "%%vt record\nx = 1": "`%%vt record` needs the variable that will hold the recording",
        "%%vt record 3x\nx = 1": "'3x' is no name for a variable: type `%%vt record before`",
        "%%vt record class\nx = 1": "'class' is no name for a variable",
        "%%vt record r --save no/such/run.vtr\nx = 1": "cannot write 'no/such/run.vtr': there is no such folder",
        "%%vt record r --save run.png\nx = 1": "'run.png' would be a picture",
        "%vt record r": "`record` needs a cell: type `%%vt record before` on its first line",
    }
    for line, says in lines.items():
        assert sentence(line).startswith(says), line


def test_a_refused_cell_does_not_run(sentence, shell):
    sentence("%%vt record r --save no/such/run.vtr\nran = True")
    sentence("%%vt memory 3\nran = True")
    assert "ran" not in shell.user_ns
