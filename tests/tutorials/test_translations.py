"""The tutorials and pages in other languages: the words are translated, and nothing else is another."""

import ast
import json
import shutil

import pytest

from docs.making import translations as making
from tests.tutorials import cells
from vistorch.tutorials import copies, translations

LESSON = "notebooks/zh/02_two.md"
PAGE = "docs/zh/page.md"
CELL = "# Two\n\nA [tensor](01_one.ipynb) of $x^2$, and `grad_fn`.\n\n![a picture](data:image/png;base64,AA)"
CODE = "%vt show w  # to see\nw = 1  # the weight\nprint('# no comment')"
SOLUTION = "<details><summary>Solution</summary>\n\n```python\nw = 2  # two\n```\n\n</details>"
ENGLISH = "# A page\n\nSee [two](../notebooks/02_two.ipynb).\n\n## A part\n\n```python\n# yes\nx = 1\n```\n"
ZH_CELL = "# 二\n\n`grad_fn` 与 $x^2$ 的[张量](01_one.ipynb)。\n\n![一张图](data:image/png;base64,AA)"
ZH_SOLUTION = "<details><summary>答案</summary>\n\n```python\nw = 2  # 二\n```\n\n</details>"
ZH_PARTS = (
    "# 一页\n\n见[二](../../notebooks/zh/02_two.md)。",
    "## 一部分\n\n```python\n# 是\nx = 1\n```",
)


def cell(kind, name, source):
    return {"cell_type": kind, "id": name, "source": source.splitlines(keepends=True), "metadata": {}}


def mark(kind, name, english):
    return f"<!-- {kind}: {name} english: {translations.fingerprint(english)} -->\n"


@pytest.fixture
def repository(tmp_path):
    """A repository of one lesson and one page, both translated."""
    book = [cell("markdown", "a", CELL), cell("code", "b", CODE), cell("markdown", "c", SOLUTION)]
    book[1]["outputs"] = [{"output_type": "stream", "text": "# no comment\n"}]
    parts = making.pieces(ENGLISH)
    for name, text in {
        "notebooks/02_two.ipynb": json.dumps({"cells": book, "metadata": {}}),
        "docs/page.md": ENGLISH,
        "notebooks/zh/terms.md": "not a translation",
        LESSON: "\n".join(
            f"{mark('cell', name, english)}{text}\n"
            for name, english, text in (
                ("a", CELL, ZH_CELL),
                ("b", CODE, "# 权重"),
                ("c", SOLUTION, ZH_SOLUTION),
            )
        ),
        PAGE: "\n".join(
            f"{mark('section', name, english)}{text}\n"
            for (name, english), text in zip(parts.items(), ZH_PARTS, strict=True)
        ),
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_every_translation_fits_its_original():
    assert making.trouble() == []
    assert len(making.translations()) > 17


def test_a_translation_that_fits(repository):
    assert making.trouble(repository) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        # An English text that changes under its translation.
        ("notebooks/02_two.ipynb", "A [tensor]", "The [tensor]", "the English of a has changed: mend its"),
        ("notebooks/02_two.ipynb", "w = 1 ", "w = 3 ", "the English of b has changed"),
        ("docs/page.md", "See ", "Look at ", "the English of a-page has changed"),
        ("docs/page.md", "## A part", "## Another part", "the original has no a-part"),
        # Pieces that are missing, unknown, twice there or not translated.
        (LESSON, "<!-- cell: a", "<!-- cell: z", "the original has no z"),
        (LESSON, "<!-- cell: a", "<!-- cell: z", "a is not translated"),
        (LESSON, "<!-- cell: c", "<!-- cell: a", "a is there 2 times"),
        (LESSON, ZH_CELL, CELL, "a is not translated"),
        (LESSON, "# 权重", "# the weight", "b is not translated"),
        (LESSON, "# 权重", "# 权重\n# 二", "b needs 1 lines, a comment each"),
        (LESSON, "# 权重", "w = 2", "b needs 1 lines, a comment each"),
        (PAGE, ZH_PARTS[0], ENGLISH.partition("\n\n## ")[0].replace("../", "../../"), "a-page is not"),
        # What a translation may not change.
        (LESSON, "$x^2$", "$x^3$", "a lacks the formula $x^2$"),
        (LESSON, "$x^2$", "", "a lacks the formula $x^2$"),
        (LESSON, "01_one.ipynb", "03_three.ipynb", "a lacks the link notebooks/01_one.ipynb"),
        (LESSON, "base64,AA", "base64,AB", "a has a picture that the original has not: data:image/png;base64,AB"),
        (LESSON, "`grad_fn`", "梯度函数", "a lacks the name grad_fn"),
        (LESSON, "# 二", "## 二", "a has other headings"),
        (LESSON, "与 $x", "与$x", "a needs a space or a full-width mark at"),
        (LESSON, "张量](", "张量,](", "a needs a space or a full-width mark at"),
        (LESSON, "w = 2", "w = 3", "c lacks the code python: w = 2"),
        (LESSON, "</details>", "", "c lacks the tag </details>"),
        (PAGE, "x = 1", "x = 2", "a-part lacks the code"),
        (PAGE, "02_two.md", "01_one.md", "a-page lacks the link notebooks/02_two.ipynb"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_found(repository, file, old, new, said):
    path = repository / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    name = PAGE if "page" in file else LESSON
    assert [line for line in making.trouble(repository) if line.startswith(f"{name}: {said}")]


def test_pieces_in_another_order_are_found(repository):
    path = repository / PAGE
    _, first, second = path.read_text(encoding="utf-8").split("<!-- ")
    path.write_text(f"<!-- {second}<!-- {first}", encoding="utf-8")
    assert making.trouble(repository) == [
        f"{PAGE}: its pieces are in another order than those of the original"
    ]


def test_a_lesson_without_a_translation_and_a_translation_without_a_lesson(repository):
    (repository / "notebooks/02_two.ipynb").rename(repository / "notebooks/02_deux.ipynb")
    assert making.trouble(repository) == [
        f"{LESSON}: there is no notebooks/02_two.ipynb that it could translate",
        "notebooks/02_deux.ipynb is not translated into zh",
    ]


def test_a_notebook_in_another_language_has_the_code_and_outputs_of_the_english_one(repository):
    english = (repository / "notebooks/02_two.ipynb").read_bytes()
    there = json.loads(translations.translated(english, (repository / LESSON).read_text(encoding="utf-8")))
    text, code, solution = there["cells"]
    assert "".join(text["source"]) == ZH_CELL and "".join(solution["source"]) == ZH_SOLUTION
    assert "".join(code["source"]) == "%vt show w  # to see\nw = 1  # 权重\nprint('# no comment')"
    assert code["outputs"] == json.loads(english)["cells"][1]["outputs"]


def test_a_cell_whose_english_has_changed_is_shown_in_english(repository):
    english = (repository / "notebooks/02_two.ipynb").read_bytes().replace(b"A [tensor]", b"The [tensor]")
    there = json.loads(translations.translated(english, (repository / LESSON).read_text(encoding="utf-8")))
    assert "".join(there["cells"][0]["source"]) == CELL.replace("A [tensor]", "The [tensor]")
    assert "".join(there["cells"][2]["source"]) == ZH_SOLUTION


@pytest.mark.parametrize("path", copies.originals(), ids=lambda path: path.stem)
def test_each_chinese_lesson_runs_the_code_of_the_english_one(path):
    ours = json.loads(copies.edition("zh")[path.name])
    theirs = json.loads(path.read_bytes())
    assert [cell["id"] for cell in ours["cells"]] == [cell["id"] for cell in theirs["cells"]]
    for mine, english in zip(ours["cells"], theirs["cells"], strict=True):
        if mine["cell_type"] == "code":
            mine, english = ("".join(cell.pop("source")) for cell in (mine, english))
            assert ast.dump(ast.parse(cells.plain(mine))) == ast.dump(ast.parse(cells.plain(english)))
            lines = [
                [line for line in text.split("\n") if line.lstrip().startswith("%")]
                for text in (mine, english)
            ]
            assert lines[0] == lines[1]
        elif len("".join(english["source"])) > 20:
            assert making.LETTERS["zh"].search("".join(mine["source"]))


def test_a_chinese_lesson_is_a_valid_notebook():
    nbformat = pytest.importorskip("nbformat")
    for data in copies.edition("zh").values():
        nbformat.validate(nbformat.reads(data.decode(), as_version=4))


def test_copies_in_chinese(tmp_path):
    assert copies.languages() == ["en", "zh"]
    copied = copies.copy_to(tmp_path / "mine", "zh")
    assert len(copied.new) == len(copies.originals())
    assert "看一看" in (tmp_path / "mine" / "00_look.ipynb").read_text(encoding="utf-8")
    again = copies.copy_to(tmp_path / "mine")
    assert again.updated == copied.new  # nobody has touched them: another language is another edition
    with pytest.raises(copies.Refusal, match="no tutorials in 'fr'; they are there in en and zh"):
        copies.copy_to(tmp_path / "french", "fr")
    assert not (tmp_path / "french").exists()


def test_a_lesson_without_a_translation_is_copied_in_english(tmp_path, monkeypatch):
    shutil.copytree(copies.originals()[0].parent, tmp_path / "there", ignore=lambda *_: ["01_tensors.md"])
    monkeypatch.setattr(copies, "PACKED", tmp_path / "there")
    edition = copies.edition("zh")
    assert edition["01_tensors.ipynb"] == copies.originals()[1].read_bytes()
    assert edition["00_look.ipynb"] != copies.originals()[0].read_bytes()
