"""The reader's copies: what they changed is never written to, and what they did not follows its original."""

import contextlib
import errno
import shutil

import pytest

from vistorch.tutorials import copies


@pytest.fixture
def originals(tmp_path, monkeypatch):
    """Two originals, which a test may change."""
    folder = tmp_path / "originals"
    folder.mkdir()
    for name in ("01_one", "02_two"):
        (folder / f"{name}.ipynb").write_text(f"{name}, first edition")
    (folder / "README.md").write_text("not for the reader's folder")
    monkeypatch.setattr(copies, "PACKED", folder)
    return folder


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_first_copy_is_all_tutorials_and_nothing_else(originals, tmp_path):
    mine = tmp_path / "a" / "mine"
    copied = copies.copy_to(mine)
    assert copied.new == ["01_one.ipynb", "02_two.ipynb"]
    assert names(mine) == [copies.NOTE, "01_one.ipynb", "02_two.ipynb"]
    assert (mine / "01_one.ipynb").read_text() == "01_one, first edition"
    assert copied.written == [mine / "01_one.ipynb", mine / "02_two.ipynb"]
    assert "new: 2 notebooks" in copied.text()


def test_what_the_reader_changed_stays_and_what_they_deleted_comes_back(originals, tmp_path):
    mine = tmp_path / "mine"
    copies.copy_to(mine)
    (mine / "01_one.ipynb").write_text("my answers")
    (mine / "02_two.ipynb").unlink()
    copied = copies.copy_to(mine)
    assert (copied.kept, copied.new, copied.beside) == (["01_one.ipynb"], ["02_two.ipynb"], [])
    assert (mine / "01_one.ipynb").read_text() == "my answers"
    assert names(mine) == [copies.NOTE, "01_one.ipynb", "02_two.ipynb"]


def test_a_newer_original_replaces_what_nobody_touched_and_lies_beside_what_they_changed(originals, tmp_path):
    mine = tmp_path / "mine"
    copies.copy_to(mine)
    (mine / "01_one.ipynb").write_text("my answers")
    for path in originals.glob("*.ipynb"):
        path.write_text("second edition")
    copied = copies.copy_to(mine)
    assert (copied.updated, copied.kept, copied.beside) == (
        ["02_two.ipynb"],
        ["01_one.ipynb"],
        ["01_one.new.ipynb"],
    )
    assert (mine / "01_one.ipynb").read_text() == "my answers"
    assert (mine / "01_one.new.ipynb").read_text() == (mine / "02_two.ipynb").read_text() == "second edition"
    assert "01_one.new.ipynb: a newer tutorial" in copied.text()
    again = copies.copy_to(mine)
    assert again.written == [] and again.kept == ["01_one.ipynb", "02_two.ipynb"]
    (mine / "01_one.new.ipynb").write_text("my second answers")
    (originals / "01_one.ipynb").write_text("third edition")
    assert copies.copy_to(mine).beside == ["01_one-2.new.ipynb"]
    assert (mine / "01_one.new.ipynb").read_text() == "my second answers"


@pytest.mark.parametrize("note", ["", "[]", "{", '{"01_one.ipynb": 3}', None])
def test_without_a_note_nothing_is_replaced(originals, tmp_path, note):
    mine = tmp_path / "mine"
    copies.copy_to(mine)
    (mine / copies.NOTE).unlink() if note is None else (mine / copies.NOTE).write_text(note)
    (originals / "01_one.ipynb").write_text("second edition")
    assert copies.copy_to(mine).beside == ["01_one.new.ipynb"]
    assert (mine / "01_one.ipynb").read_text() == "01_one, first edition"


def test_an_interrupted_copy_leaves_no_half_notebook(originals, tmp_path, monkeypatch):
    @contextlib.contextmanager
    def full(path):
        with replacing(path) as file:
            yield file
            raise OSError(errno.ENOSPC, "No space left on device")

    mine = tmp_path / "mine"
    replacing = copies.replacing
    monkeypatch.setattr(copies, "replacing", full)
    with pytest.raises(copies.Refusal, match=r"cannot be copied to .*mine: No space left on device"):
        copies.copy_to(mine)
    assert names(mine) == []


def test_what_is_refused(originals, tmp_path, monkeypatch):
    with pytest.raises(copies.Refusal, match="holds the originals"):
        copies.copy_to(originals)
    (tmp_path / "file").write_text("")
    with pytest.raises(copies.Refusal, match="is a file: name a folder"):
        copies.copy_to(tmp_path / "file")
    shutil.rmtree(originals)
    monkeypatch.setattr(copies, "CHECKOUT", tmp_path / "nowhere")
    with pytest.raises(copies.Refusal, match="carries no tutorials"):
        copies.copy_to(tmp_path / "mine")
