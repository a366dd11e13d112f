"""The pages of the site that are made, from docstrings, notebooks and the table of commands; and what is refused."""

import base64
import importlib
import inspect
import json
import operator
import re

import pytest

import vistorch
from docs.making import check, commands, entries, notebooks, read_on, reference, sections, sources, words
from docs.making.docstrings import escape, markdown, signature
from docs.making.translations import LANGUAGES
from vistorch import vt

DOC = """Sums by `a_b`, and *args* of [x].

A second paragraph.

Args:
    input: a tensor of `n` values,
        on two lines.
    *sizes: |x| < 3 and snake_case.

Returns:
    The sum.

Example:
    >>> print("```")
    ```
"""


def test_a_docstring_as_markdown():
    assert markdown(DOC).split("\n\n") == [
        r"Sums by `a_b`, and \*args\* of \[x\].",
        "A second paragraph.",
        "**Arguments**",
        "- `input`: a tensor of `n` values,\n  on two lines.\n- `*sizes`: \\|x\\| \\< 3 and snake\\_case.",
        "**Returns**: The sum.",
        '````pycon\n>>> print("```")\n```\n````',
    ]


def test_escaped_signs():
    assert escape("a_b `c_d` $e$ <f> {g}`h_`") == r"a\_b `c_d` \$e\$ \<f\> \{g\}`h_`"


def test_signatures_have_no_types_and_no_addresses():
    def f(a: int, b=object(), *rest, c: str = "x", d=int, **more):  # noqa: B008
        pass

    def g(a, /, b, *, c=None):
        pass

    assert signature(f, "f") == "f(a, b=..., *rest, c='x', d=int, **more)"
    assert signature(g, "g") == "g(a, /, b, *, c=None)"


@pytest.fixture(scope="module")
def pages():
    return reference.pages()


def test_every_function_of_vistorch_is_on_one_page(pages):
    where = {}
    for path, text in pages.items():
        for target in re.findall(r"^\((vistorch\.\w+)\)=$", text, re.M):
            where.setdefault(target, []).append(path)
    assert not {name: paths for name, paths in where.items() if len(paths) > 1}
    for name in (
        "add",
        "matmul",
        "randn",
        "einsum",
        "softmax",
        "cat",
        "gather",
        "save",
        "load",
        "no_grad",
        "svd_lowrank",
    ):
        assert where[f"vistorch.{name}"]
    assert where["vistorch.add"] == ["reference/pointwise"]
    assert len(where) > 400


def test_each_page_of_the_reference_is_named_and_full(pages):
    assert {f"reference/{file}" for _, file, _ in (*sections.FUNCTIONS, *sections.MODULES)} < set(pages)
    for path, text in pages.items():
        assert text.startswith("# "), path
        if path != "reference/index":
            assert "```pycon" in text and text.count(")=\n#") > 2, path
            assert f"\n{path.removeprefix('reference/')}\n" in pages["reference/index"]


def test_the_reference_is_the_same_each_time(pages):
    assert reference.pages() == pages
    assert not [path for path, text in pages.items() if re.search(r"0x[0-9a-f]{8,}", text)]


def test_what_a_link_of_the_reference_means_is_there(pages):
    whole = "\n".join(pages.values())
    targets = set(re.findall(r"^\(([\w.-]+)\)=$", whole, re.M))
    linked = set(re.findall(r"\]\(#([\w.-]+)\)", whole))
    assert len(linked) > 200
    assert linked <= targets


def test_methods_and_functions_of_a_tensor(pages):
    text = pages["reference/tensor"]
    assert "[`matmul`](#vistorch.matmul)" in text
    assert "(Tensor.backward)=" in text
    assert vistorch.Tensor.backward.__doc__.splitlines()[0].rstrip(".") in text.replace("\\", "")


def test_functions_show_the_formulas_of_their_ops(pages):
    text = pages["reference/pointwise"]
    assert (
        "- `input`: $\\bar x = \\bar y \\cos x$" in text.partition("(vistorch.sin)=")[2].partition("\n(")[0]
    )
    assert "**Gradient**" in pages["reference/linalg"] and "**Gradient**" in pages["reference/nn-functional"]
    assert (
        "**Gradient**"
        not in pages["reference/reductions"].partition("(vistorch.argsort)=")[2].partition("\n(")[0]
    )
    assert sum(text.count("**Gradient**") for text in pages.values()) > 250


def test_every_formula_can_be_set(pages):
    tex2mathml = pytest.importorskip("docutils.utils.math.latex2mathml").tex2mathml  # raises where it cannot
    rows = {row for text in pages.values() for row in re.findall(r"^- `\w+`: \$(.*)\$$", text, re.M)}
    assert len(rows) > 150
    for formula in rows:
        assert tex2mathml(formula)


def test_the_page_of_commands_has_every_command_and_what_it_shows(tmp_path):
    text = commands.page(tmp_path)
    for name, command in vt.COMMANDS.items():
        assert f"(command-{name})=\n## {command.typed}\n" in text
        assert command.examples[0][1] in text
        for option in command.parser.options:
            assert f"`{option}" in text
    assert set(commands.SESSIONS) <= set(vt.COMMANDS)
    for picture in re.findall(r"\{image\} (\S+)", text):
        assert (tmp_path / picture).stat().st_size > 200
    assert "command-graph-dark.svg" in text and "devices: cpu (default)" in text


def write(path, *cells):
    made = [
        {
            "cell_type": kind,
            "source": source,
            "metadata": {},
            **({"outputs": outputs} if kind == "code" else {}),
        }
        for kind, source, *outputs in cells
    ]
    path.write_text(json.dumps({"cells": made}))
    return path


def test_a_notebook_as_a_page(tmp_path):
    picture = base64.b64encode(b"png").decode()
    path = write(
        tmp_path / "03_three.ipynb",
        ("markdown", ["# Three\n", "see [two](02_two.ipynb#part) and $x^2$"]),
        ("code", ""),
        (
            "code",
            "%vt show w",
            {"output_type": "stream", "text": "a\n"},
            {"output_type": "stream", "text": ["b\x1b[31m\n"]},
            {
                "output_type": "display_data",
                "data": {
                    "image/png": picture,
                    "text/plain": "tensor([1.])",
                    "text/html": "<script>x</script>",
                },
                "metadata": {"image/png": {"width": 200}},
            },
        ),
        ("code", "1/0", {"output_type": "error", "traceback": ["\x1b[0;31mZeroDivisionError"]}),
    )
    text = notebooks.page(path, tmp_path / "out")
    assert notebooks.title(path) == "Three"
    assert "see [two](02_two.md#part) and $x^2$" in text
    assert "```ipython\n%vt show w\n```" in text
    assert "\na\nb\n" in text and "\x1b" not in text
    assert ":width: 200px" in text and "tensor([1.])" in text and "script" not in text
    assert "ZeroDivisionError" in text
    assert [one.read_bytes() for one in (tmp_path / "out" / "pictures").iterdir()] == [b"png"]


def test_a_figure_keeps_the_colour_of_the_page(tmp_path):
    """It has no background; any other picture was drawn for a light one."""
    for text, marked in (("<Figure size 640x300 with 1 Axes>", True), ("tensor([1.])", False)):
        data = {"image/png": base64.b64encode(b"png").decode(), "text/plain": text}
        shown = {"output_type": "display_data", "data": data}
        page = notebooks.page(write(tmp_path / "one.ipynb", ("code", "x", shown)), tmp_path)
        assert (":class: vt-picture vt-figure\n" in page) is marked


@pytest.mark.parametrize(
    "path", sorted((sources.ROOT / "notebooks").glob("[0-9]*.ipynb")), ids=lambda path: path.stem
)
def test_every_tutorial_has_a_title_and_makes_a_page(path, tmp_path):
    assert notebooks.title(path) != path.stem
    assert notebooks.page(path, tmp_path).startswith("# ")


def test_a_lesson_leads_to_pages_that_are_there(pages):
    there = {*sources.placed().values(), "notebook-tools.md", *(f"{path}.md" for path in pages)}
    assert set(read_on.LESSONS) == {path.stem for path in (sources.ROOT / "notebooks").glob("[0-9]*.ipynb")}
    for says, place in read_on.PAGES.values():
        assert place in there and set(says) == {"en", *LANGUAGES}
    assert read_on.line("02_autograd", "en", there) == (
        "**Read on:** [`vistorch.autograd`](../reference/autograd.md) · [How it works](../how-it-works.md)"
    )
    assert read_on.line("02_autograd", "zh", there) == (
        f"**{words.READ_ON['zh']}** [`vistorch.autograd`](../../reference/autograd.md) · "
        "[它是怎样工作的](../how-it-works.md)"
    )


def test_the_list_of_tutorials_says_what_each_is_about(tmp_path):
    sources._tutorials(tmp_path)
    page = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert "| [Look](00_look.md) | a tensor that draws itself" in page
    assert page.count(".md) |") == len(list(tmp_path.glob("[0-9]*.md"))) > 12
    assert ".ipynb" not in page


def test_tutorials_in_chinese_lead_to_the_english_ones_and_back(tmp_path):
    sources._tutorials(tmp_path / "tutorials")
    sources._tutorials(tmp_path / "zh" / "tutorials", "zh")
    there = sorted(path.name for path in (tmp_path / "tutorials").glob("*.md"))
    assert there == sorted(path.name for path in (tmp_path / "zh" / "tutorials").glob("*.md"))
    for name in there:
        english = (tmp_path / "tutorials" / name).read_text(encoding="utf-8")
        chinese = (tmp_path / "zh" / "tutorials" / name).read_text(encoding="utf-8")
        assert re.match(rf"# .+\n\n:::.*\n\[中文\]\(\.\./zh/tutorials/{name}\)\n:::", english)
        assert re.match(
            rf"# .*[\u4e00-\u9fffK].*\n\n:::.*\n\[English\]\(\.\./\.\./tutorials/{name}\)\n:::", chinese
        )
    index = (tmp_path / "zh" / "tutorials" / "index.md").read_text(encoding="utf-8")
    assert "| [看一看](00_look.md) | 会画出自己的张量" in index and ".ipynb" not in index
    look = (tmp_path / "zh" / "tutorials" / "00_look.md").read_text(encoding="utf-8")
    assert (
        "(01_tensors.md)" in look and "# 0 到 5 的 24 个数" in look and "vistorch lab --language zh" in look
    )
    assert look.count("<div data-vistorch=") > 3  # live, as the English page is


def test_a_page_leads_to_its_translation_and_back(tmp_path, monkeypatch):
    monkeypatch.setattr(sources.reference, "pages", dict)
    monkeypatch.setattr(sources.commands, "page", lambda folder: "# Commands\n")
    sources.put_together(tmp_path)
    english = (tmp_path / "first-steps.md").read_text(encoding="utf-8")
    chinese = (tmp_path / "zh" / "first-steps.md").read_text(encoding="utf-8")
    assert english.startswith(
        "# Getting started\n\n:::{container} vt-language\n[中文](zh/first-steps.md)\n:::\n"
    )
    assert chinese.startswith("# 开始使用\n\n:::{container} vt-language\n[English](../first-steps.md)\n:::\n")
    assert "<!--" not in chinese and "(tutorials/index.md)" in chinese
    assert "vt-language" not in (tmp_path / "diagnose.md").read_text(encoding="utf-8")


def test_links_of_pages_by_hand_become_links_of_the_site():
    pages = sources.placed()

    def relinked(text, file="docs/how-it-works.md"):
        return sources.relinked(text, file, pages)

    assert relinked("[a](../benchmarks/README.md#how)") == "[a](measured/speed.md#how)"
    assert relinked("[a](../notebooks/00_look.ipynb)") == "[a](tutorials/00_look.md)"
    assert relinked("[a](../../notebooks/zh/00_look.md)", "docs/zh/index.md") == "[a](tutorials/00_look.md)"
    assert (
        relinked("[a](../../notebooks/00_look.ipynb)", "docs/zh/index.md") == "[a](../tutorials/00_look.md)"
    )
    assert relinked("[a](decisions)") == "[a](decisions/index.md)"
    assert relinked("[a](https://example.org) [b](#part)") == "[a](https://example.org) [b](#part)"
    assert relinked("[the build](../hatch_build.py)") == "the build (`hatch_build.py`)"
    assert relinked("```\n[a](nowhere.md)\n```") == "```\n[a](nowhere.md)\n```"
    with pytest.raises(FileNotFoundError, match=r"links to nowhere\.md"):
        relinked("[a](nowhere.md)")


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        (
            "a.html",
            '<script src="https://cdn.example/x.js"></script>',
            "a.html fetches https://cdn.example/x.js",
        ),
        ("a.html", '<script src="//cdn.example/x.js"></script>', "a.html fetches //cdn.example/x.js"),
        ("a.html", '<link rel="stylesheet" href="http://x/y.css">', "a.html fetches http://x/y.css"),
        ("a.html", '<link rel="preconnect" href="https://fonts.x">', "a.html fetches https://fonts.x"),
        ("a.html", '<img alt="a" src="https://x/y.png">', "a.html fetches https://x/y.png"),
        ("a.html", '<img src="y.png">', "a.html has a picture without words: y.png"),
        ("a.html", "<style>@import 'https://x/y.css';</style>", "a.html fetches https://x/y.css"),
        ("a.html", '<p style="background: url(https://x/y.png)">', "a.html fetches https://x/y.png"),
        (
            "a.css",
            "@font-face { src: url('https://fonts.x/y.woff2') }",
            "a.css fetches https://fonts.x/y.woff2",
        ),
        ("a.html", '<a href="https://example.org">x</a><link rel="canonical" href="https://x">', None),
        ("a.html", '<script src="_static/x.js"></script><img alt="a" src="data:image/png;base64,AA">', None),
    ],
)
def test_what_a_page_fetches_from_elsewhere_is_found(tmp_path, name, text, found):
    (tmp_path / "index.html").write_text("")
    (tmp_path / name).write_text(text)
    assert check.trouble(tmp_path) == ([found] if found else [])


def test_a_site_without_a_first_page_is_trouble(tmp_path):
    assert check.trouble(tmp_path) == ["there is no index.html"]


def documented(pages):
    """Every object that the reference hands to Sphinx: its kind and full name."""
    whole = "\n".join(pages.values())
    blocks = re.findall(r"^```\{eval-rst\}\n(\.\. py:(\w+):: .*?)\n```$", whole, re.M | re.S)
    return [
        (kind, re.split(r"[(\s]", row.partition(":: ")[2].strip() or row.strip(), maxsplit=1)[0])
        for text, kind in blocks
        for row in text.split("\n")
    ]


def test_every_object_is_in_the_index_once_and_is_what_it_says(pages):
    found = documented(pages)
    assert len(found) > 2000 and len(set(found)) == len(found)
    for kind, name in found:
        thing = importlib.import_module("vistorch")
        for part in name.split(".")[1:]:
            thing = (
                getattr(thing, part)
                if hasattr(thing, part)
                else importlib.import_module(f"{thing.__name__}.{part}")
            )
        if kind == "class":
            assert inspect.isclass(thing), name


@pytest.mark.parametrize(
    "name", ["nn.Module", "optim.Optimizer", "nn.Sequential", "utils.data.DataLoader", "nn.LSTM"]
)
def test_inherited_methods_are_in_the_reference(pages, name):
    """With the class itself or with a public base; what is not `object`'s and has a docstring."""
    there = {found for kind, found in documented(pages) if kind in ("method", "property")}
    cls = operator.attrgetter(name)(vistorch)
    bases = {base.__name__ for base in cls.__mro__}
    for own in dir(cls):
        thing = inspect.getattr_static(cls, own)
        if own.startswith("_") or own in entries.HUSHED or not inspect.isfunction(thing) or not thing.__doc__:
            continue
        assert any(one.endswith(f".{own}") and one.split(".")[-2] in bases for one in there), own


def test_methods_of_private_bases_stand_with_the_first_public_class():
    class Private:
        def shared(self):
            """Of both."""

    class Public(Private):
        def own(self):
            """Of this one."""

    class Below(Public, Private):
        def more(self):
            """Of the one below."""

    for cls in (Private, Public, Below):
        cls.__module__ = "vistorch.made_up"
    public = frozenset([Public, Below])
    assert set(entries.members(Public, public)) == {"own", "shared"}
    assert set(entries.members(Below, public)) == {"more"}


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("nn.Linear", "vistorch/nn/modules/linear.py"),
        ("nn.Module.parameters", "vistorch/nn/modules/module.py"),
        ("save", "vistorch/serialization/"),
        ("tanh", "vistorch/engine/ops/"),
        ("matmul", "vistorch/engine/ops/"),
    ],
)
def test_a_link_to_the_source_leads_to_the_line(name, file):
    thing = operator.attrgetter(name)(vistorch)
    path, line = entries.place(thing, name.rpartition(".")[2])
    assert path.startswith(file)
    row = (sources.ROOT / path).read_text(encoding="utf-8").splitlines()[line - 1]
    assert re.search(rf"(?:def|class) {name.rpartition('.')[2]}\b|^{name} = |\"{name}\"", row), row


def test_every_class_of_nn_is_in_a_part_of_its_page(pages):
    text = pages["reference/nn"]
    parts = re.findall(r"^## (.+)$", text, re.M)
    assert parts == [title for title, _ in sections.GROUPS["vistorch.nn"]]
    assert text.index("\n### Module\n") < text.index("\n## Convolution\n") < text.index("\n### Conv2d\n")
    with pytest.raises(LookupError, match="no part of the page has"):
        sections.group_of(vistorch.optim.SGD, sections.GROUPS["vistorch.nn"])


def test_the_search_leaves_out_what_is_written_for_contributors(tmp_path, monkeypatch):
    monkeypatch.setattr(sources.reference, "pages", dict)
    monkeypatch.setattr(sources.commands, "page", lambda folder: "# Commands\n")
    sources.put_together(tmp_path / "source")
    for place in ("decisions/0001-numpy-and-cupy.md", "contributing.md", "changelog.md"):
        assert (tmp_path / "source" / place).read_text(encoding="utf-8").startswith(sources.UNSEARCHED + "# ")
    for place in ("how-it-works.md", "differences.md"):
        assert not (tmp_path / "source" / place).read_text(encoding="utf-8").startswith("---")


def test_the_search_finds_chinese_words():
    pytest.importorskip("sphinx")
    from docs.making.search_words import SearchBoth

    search = SearchBoth({})
    assert search.lang == "en"
    assert search.split("反向传播, loss.backward() 与numpy") == [
        "反向",
        "向传",
        "传播",
        "loss",
        "backward",
        "与",
        "numpy",
    ]
    assert not set(search.js_splitter_code) & set("\"'&<>")  # the template escapes them
