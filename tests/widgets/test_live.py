"""What a page sends is looked at before anything is done; what a view holds is bounded."""

import gc
import logging
import sys
import weakref

import numpy as np
import pytest

import vistorch
from tests.widgets.states import Record, item
from vistorch.widgets._frame.display import Display
from vistorch.widgets._frame.live import OPEN, Live
from vistorch.widgets._frame.tiles import CELLS
from vistorch.widgets._frame.wire import unpack
from vistorch.widgets.array.live import ArrayView
from vistorch.widgets.vars.live import VarsView


@pytest.fixture
def view(pages, monkeypatch):
    """A view of a 6 x 8 tensor, with what it sent."""
    x = vistorch.arange(48.0).reshape(6, 8)
    made = ArrayView(Display(Record(item(x.numpy()))), [x])
    made.sent = []
    monkeypatch.setattr(made, "send", lambda content, buffers=None: made.sent.append((content, buffers)))
    made.x = x
    return made


def ask(view, **more):
    plain = {"type": "tile", "id": 7, "item": 0, "layer": 0, "start": [0, 0], "stop": [6, 8], "block": [1, 1]}
    view._receive(view, {**plain, **more}, [])


def test_a_tile(view):
    ask(view, start=[1, 2], stop=[4, 8])
    ((content, buffers),) = view.sent
    assert content == {
        "type": "tile", "id": 7, "item": 0, "layer": 0, "start": [1, 2], "stop": [4, 8], "block": [1, 1],
        "values": {"type": "f32", "shape": [3, 6]},
    }  # fmt: skip
    np.testing.assert_array_equal(np.frombuffer(buffers[0], "<f4").reshape(3, 6), view.x[1:4, 2:8].numpy())


def test_a_tile_of_blocks_keeps_what_is_furthest(view):
    with vistorch.no_grad():
        view.x[0, 0] = float("nan")
    ask(view, block=[3, 4])
    content, buffers = view.sent[0]
    found = np.frombuffer(buffers[0], "<f4").reshape(2, 2)
    assert content["values"]["shape"] == [2, 2] and np.isnan(found[0, 0]) and found[1, 1] == 47


WRONG = [
    {"type": "title"}, {"type": None}, {"type": 3}, {"item": 1}, {"item": -1}, {"item": True}, {"item": 0.0},
    {"item": "0"}, {"layer": 1}, {"layer": 2**60}, {"start": [0]}, {"start": [0, 8]}, {"start": "00"},
    {"stop": [6, 9]}, {"stop": [0, 8]},
    {"stop": [6, 2**70]}, {"stop": [6, float("inf")]}, {"block": [0, 1]}, {"block": [1, -1]}, {"block": {"0": 1}},
    {"id": None}, {"id": 2**60}, {"id": -1}, {"id": [1]}, {"start": [[0], 0]}, {"block": [1, 2**53]},
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_what_does_not_fit_is_refused_in_one_line(view, wrong, caplog):
    with caplog.at_level(logging.WARNING, "vistorch"):
        ask(view, **wrong)
    assert len(caplog.records) == 1 and "\n" not in caplog.text.strip()
    assert "ArrayView refused a message from its page: " in caplog.text
    assert all(content["type"] == "refused" and content["id"] == 7 for content, _ in view.sent)
    assert len(view.sent) == (0 if "id" in wrong else 1)


@pytest.mark.parametrize("content", [None, [], "tile", 5, {}])
def test_what_is_no_message_is_refused(view, content, caplog):
    view._receive(view, content, [])
    assert "refused" in caplog.text and view.sent == []


def test_a_tile_is_small(pages, caplog):
    x = vistorch.zeros(300, 300)
    view = ArrayView(Display(Record(item(x.numpy()))), [x])
    ask(view, stop=[300, 300])
    assert f"expected at most {CELLS:,} values in one tile, got 90,000" in caplog.text


def test_a_view_keeps_no_array_alive(view, caplog):
    seen = weakref.ref(view.x)
    view.x = None
    gc.collect()
    assert seen() is None
    ask(view)
    assert view.sent[0][0]["why"] == "the array is gone from the kernel: give it a name and show it again"


def test_the_page_may_close(view):
    view._receive(view, {"type": "close"}, [])
    assert view.comm is None and view.live is False


def test_how_many_stay_open_is_bounded(pages):
    made = [ArrayView(Display(Record(item(np.eye(2)))), [None]) for _ in range(OPEN + 5)]
    assert len(Live._open) == OPEN
    assert [one.comm is None for one in made] == [True] * 5 + [False] * OPEN


def test_a_cell_that_runs_again_closes_its_own(pages, monkeypatch):
    def made(cell, run):
        monkeypatch.setattr("vistorch.widgets._frame.live._cell", lambda: (cell, run))
        return ArrayView(Display(Record(item(np.eye(2)))), [None])

    first, beside, other = made("cell-1", "run-1"), made("cell-1", "run-1"), made("cell-2", "run-1")
    first._repr_mimebundle_(), beside._repr_mimebundle_()
    assert first.comm is not None  # the same run of the cell
    again = made("cell-1", "run-2")
    assert first.comm is None and beside.comm is None
    assert again.comm is not None and other.comm is not None


def test_a_view_that_a_cell_needs_is_not_closed_for_others(pages, monkeypatch):
    busy = ArrayView(Display(Record(item(np.eye(2)))), [None])
    monkeypatch.setattr(ArrayView, "busy", property(lambda self: self is busy))
    made = [ArrayView(Display(Record(item(np.eye(2)))), [None]) for _ in range(OPEN + 1)]
    assert busy.comm is not None and len(Live._open) == OPEN
    assert [one.comm is None for one in made] == [True, True] + [False] * (OPEN - 1)


WIDGET = "application/vnd.jupyter.widget-view+json"


def test_the_bundle_of_a_view_needs_no_widget_and_names_the_model_it_meets(view):
    data, _ = view._repr_mimebundle_()
    assert set(data) == {
        "text/plain",
        "image/png",
        "text/html",
    }  # a saved widget is "model not found" one day
    assert data["text/plain"] == repr(view) == "tensor([...])"
    assert unpack(view.payload)[1]["text"] == "tensor([...])" and view.live is True
    assert view.key and f'key:"{view.key}"' in data["text/html"]
    still = view.display._repr_mimebundle_()["text/html"]
    assert 'key:""' in still  # a page without a view meets nobody


def test_the_same_record_has_the_same_page(pages):
    def html():
        x = vistorch.arange(6.0).reshape(2, 3)
        return ArrayView(Display(Record(item(x.numpy()))), [x])._repr_mimebundle_()[0]["text/html"]

    assert html() == html()  # nbval compares it


@pytest.mark.parametrize("front_end", ["VSCODE_PID", "google.colab"])
def test_where_outputs_are_apart_the_widget_stays(view, front_end, monkeypatch):
    if front_end.isupper():
        monkeypatch.setenv(front_end, "1")
    else:
        monkeypatch.setitem(sys.modules, front_end, sys)
    data, _ = view._repr_mimebundle_()
    assert set(data) == {"text/plain", "image/png", "text/html", WIDGET}


class Names(Record):
    """A table of two names."""

    kind = "vars"

    def wire(self):
        return {"title": "names", "rows": [{"name": "x"}, {"name": "<b>"}]}


@pytest.fixture
def table(pages, monkeypatch):
    """A live table of two names, with what it sent."""
    (pages / "vars.js").write_text("export default {}")
    x = vistorch.arange(48.0).reshape(6, 8)

    def look(name):
        return Display(Record(item(x.numpy()), title={"x": name}[name])), [x]

    made = VarsView(Display(Names()), look)
    made.sent = []
    monkeypatch.setattr(made, "send", lambda content, buffers=None: made.sent.append((content, buffers)))
    return made


def test_a_row_opens_with_the_page_that_shows_it(table, pages):
    table._receive(table, {"type": "open", "row": 0}, [])
    ((content, buffers),) = table.sent
    assert content == {"type": "opened", "row": 0}
    assert unpack(buffers[0])[1]["title"] == "x" and buffers[1] == (pages / "array.js").read_bytes()
    ask(table, start=[5, 6])
    assert np.frombuffer(table.sent[1][1][0], "<f4").tolist() == [46, 47]


def test_a_name_that_is_gone(table):
    table._receive(table, {"type": "open", "row": 1}, [])
    assert table.sent == [
        ({"type": "opened", "row": 1, "why": "<b> is gone: type %vt vars for a new table"}, None)
    ]


@pytest.mark.parametrize("row", [2, -1, "0", None, True, 2**70])
def test_a_row_that_is_not_there(table, row, caplog):
    table._receive(table, {"type": "open", "row": row}, [])
    assert (
        table.sent == []
        and "VarsView refused a message from its page: expected a whole number" in caplog.text
    )


def test_no_tile_before_a_row(table):
    ask(table)
    assert table.sent == [({"type": "refused", "id": 7, "why": "no row is open"}, None)]


def test_a_page_that_is_being_written_is_read_again(pages, monkeypatch):
    monkeypatch.setenv("ANYWIDGET_HMR", "1")
    view = ArrayView(Display(Record(item(np.eye(2)))), [None])
    assert view._esm == (pages / "array.js").read_text()
    watched = next(
        c.__dict__["_esm"] for c in type(view).__mro__ if hasattr(c.__dict__.get("_esm"), "changed")
    )
    watched.changed.emit("// new")
    assert view._esm == "// new"


def test_what_nobody_else_holds_is_held_by_the_newest_view(pages):
    def shown(hold):
        x = vistorch.zeros(4, 4)
        return ArrayView(Display(Record(item(x.numpy()))), [x], hold), weakref.ref(x)

    (_, gone), (first, x), (second, y) = shown(False), shown(True), shown(True)
    gc.collect()
    assert gone() is None and x() is None and y() is not None
    second.close()
    gc.collect()
    assert y() is None and first.comm is not None


@pytest.mark.parametrize(
    "name", ["_esm", "_css", "payload", "live", "_anywidget_id", "comm", "layout", "no such"]
)
def test_a_page_sets_no_property(view, name, caplog):
    """Neither the program that draws the page nor what it draws comes from the page."""
    before = {key: value for key, value in view.get_state().items() if key != "layout"}
    message = {
        "content": {"data": {"method": "update", "state": {name: "alert(1)"}, "buffer_paths": []}},
        "buffers": [],
    }
    with caplog.at_level(logging.WARNING, logger="vistorch"):
        view._handle_msg(message)
    assert {key: value for key, value in view.get_state().items() if key != "layout"} == before
    assert f"its page wanted to set {name}" in caplog.text


def test_numbers_of_thousands_of_digits_are_refused_in_one_line(view, caplog):
    with caplog.at_level(logging.WARNING, logger="vistorch"):
        view._receive(view, {"type": "tile", "id": 10**5000}, [])
    assert "got a number of 16,610 bits" in caplog.text
