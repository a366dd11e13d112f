"""The recipes of CONTRIBUTING.md: an op, a layer and a view, made by the very text of the page, pass.

Invariant: a copy of the repository is changed, and by nothing but the blocks that say where they go.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from js import front

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n# at the end of (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEW = re.compile(r"^```(?:python|ts)\n(?:#|//) in the new file (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEADINGS = ("How to add an op", "How to add a layer")
PARTS = ("vistorch", "tests", "benchmarks", "conftest.py", "pyproject.toml")


def blocks(heading):
    """The blocks below a heading: file, text."""
    return BLOCK.findall(page_part(heading))


def page_part(heading):
    """What stands below a heading."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A copy of what the tests need, in which the recipes were followed."""
    folder = tmp_path_factory.mktemp("clone")
    skip = shutil.ignore_patterns("__pycache__", "artefacts", ".*", "*.js")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part, ignore=skip)
        else:
            shutil.copy(ROOT / part, folder / part)
    assert len(follow(folder, "How to add an op")) == 2, "a row and a record"
    assert len(follow(folder, "How to add a layer")) == 4, "a function, a class, a record for each"
    return folder


def follow(clone, heading):
    """Do what the blocks say."""
    found = blocks(heading)
    assert found
    for name, text in found:
        path = clone / name
        gap = "\n\n" if text.startswith(("def ", "class ")) else ""
        path.write_text(path.read_text(encoding="utf-8") + gap + text, encoding="utf-8")
    return [name for name, _ in found]


def passes(clone, *arguments):
    """Run tests of the new records in the copy; return whether they pass, and what they print."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:nbval", *arguments],
        cwd=clone,
        env={**os.environ, "PYTHONPATH": str(clone), "VISTORCH_RECORDS": RECORDS},
        capture_output=True,
        text=True,
    )
    return done.returncode == 0, done.stdout


COMPLETE = ("tests/ops/test_complete.py", "tests/nn/test_complete.py")


RECORDS = "softsign2,nn.functional.softsign3"
EXAMPLES = "tests/repository/test_examples.py::"
CHECKS = (
    "tests/ops",
    "tests/nn/test_modules.py",
    "tests/nn/test_complete.py",
    EXAMPLES + "test_every_public_name_shows_an_example",
    EXAMPLES + "test_every_public_method_shows_an_example",
    EXAMPLES + "test_examples_out_of_the_reach_of_doctest_modules[vistorch]",
    EXAMPLES + "test_examples_out_of_the_reach_of_doctest_modules[vistorch.Tensor]",
    "vistorch/nn/functional/activation.py",
    "vistorch/nn/modules/activation.py",
)


@pytest.mark.timeout(600)
def test_what_the_recipes_make_passes(clone):
    mine = "oftsign2 or oftsign3 or test_complete or test_every_public or out_of_the_reach"
    good, said = passes(clone, *CHECKS, "--doctest-modules", "-k", mine)
    assert good and int(re.search(r"(\d+) passed", said)[1]) > 40, said


def test_a_wrong_formula_is_seen(clone):
    row = clone / "vistorch/engine/ops/elementwise/transcendental.py"
    right = row.read_text(encoding="utf-8")
    row.write_text(right.replace("g * (1 - F.abs(input)) /", "g * (1 + F.abs(input)) /"), encoding="utf-8")
    try:
        good, said = passes(clone, "tests/ops/test_gradients.py", "-k", "softsign2")
    finally:
        row.write_text(right, encoding="utf-8")
    assert not good and "test_gradient[softsign2]" in said and "test_finite_differences[softsign2]" in said


def test_what_has_no_record_fails(clone):
    records = [name for heading in HEADINGS for name, _ in blocks(heading) if name.startswith("tests/")]
    kept = {name: (clone / name).read_text(encoding="utf-8") for name in records}
    for name in records:
        shutil.copy(ROOT / name, clone / name)
    try:
        good, said = passes(clone, *COMPLETE)
    finally:
        for name, text in kept.items():
            (clone / name).write_text(text, encoding="utf-8")
    assert not good and all(f"'{name}'" in said for name in ("softsign2", "softsign3", "Softsign3")), said


# ---- a view ----
VIEW_PARTS = (*PARTS, "docs", "js", "README.md", "package.json", "package-lock.json")
VIEW_CHECKS = (
    "tests/widgets/test_every_kind.py",
    "tests/magics/test_table.py",
    "tests/magics/test_examples.py",
    "tests/magics/test_completion.py",
    "tests/magics/test_doctor.py",
    "tests/widgets/test_sizes.py",
    "tests/repository/test_prose.py",
    "tests/repository/test_layout.py",
    EXAMPLES + "test_every_public_name_shows_an_example",
    "vistorch/debug/hist.py",
    "vistorch/widgets/hist",
)
VIEW_MINE = "hist or commands or every_page or stale or table_of_magics or circle or bundles or called_as"


@pytest.fixture(scope="module")
def view(tmp_path_factory):
    """A copy of what a view needs, in which the recipe was followed, and what the tools said."""
    folder = tmp_path_factory.mktemp("view")
    skip = shutil.ignore_patterns("__pycache__", "artefacts", ".*", "node_modules")
    for part in VIEW_PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part, ignore=skip)
        else:
            shutil.copy2(ROOT / part, folder / part)
    for tools in (ROOT, ROOT / "js"):
        front.install(tools)
        (folder / tools.relative_to(ROOT) / "node_modules").symlink_to(tools / "node_modules")
    part = page_part("How to add a view")
    made = NEW.findall(part)
    for name, text in made:
        assert not (folder / name).exists(), name
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    assert [name.rpartition("/")[2] for name, _ in made] == [
        *("hist.py", "__init__.py", "picture.py", "command.py", "page.ts", "example.py")
    ]
    for command in (["-m", "docs.making.generated"], ["js/front.py", "build"], ["js/front.py", "type"]):
        done = tool(folder, sys.executable, *command)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder, [folder / name for name, _ in made]


def tool(folder, *command):
    """Run a program in the copy."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.timeout(600)
def test_the_view_of_the_recipe_passes(view):
    folder, made = view
    good, said = passes(folder, *VIEW_CHECKS, "--doctest-modules", "-k", VIEW_MINE)
    assert good and int(re.search(r"(\d+) passed", said)[1]) > 20, said
    python = [str(path) for path in made if path.suffix == ".py"]
    for command in (["check"], ["format", "--check"]):
        done = tool(folder, sys.executable, "-m", "ruff", *command, *python)
        assert done.returncode == 0, done.stdout
    assert "| `%vt hist x` |" in (folder / "README.md").read_text(encoding="utf-8")
    stub = (folder / "vistorch-stubs" / "vt" / "__init__.pyi").read_text(encoding="utf-8")
    assert "from vistorch.widgets.hist.command import hist as hist" in stub
