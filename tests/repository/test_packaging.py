"""What an installation carries besides code: the tutorials and the pages, in a wheel and in a source distribution."""

import email
import re
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A wheel and a source distribution, made by the build backend itself."""
    build = pytest.importorskip("hatchling.build")
    folder = tmp_path_factory.mktemp("dist")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return folder / build.build_wheel(str(folder)), folder / build.build_sdist(str(folder))


def test_a_wheel_carries_the_tutorials_and_the_pages(built):
    names = set(zipfile.ZipFile(built[0]).namelist())
    for path in (ROOT / "notebooks").glob("[0-9]*.ipynb"):
        assert f"vistorch/vt/cli/tutorials/notebooks/{path.name}" in names
        assert f"vistorch/vt/cli/tutorials/notebooks/zh/{path.stem}.md" in names
    for path in (ROOT / "js" / "src").glob("*.ts"):
        if not path.name.endswith(".d.ts"):
            assert f"vistorch/widgets/static/{path.stem}.js" in names
    assert not [name for name in names if not name.startswith(("vistorch/", "vistorch-"))]


def test_a_source_distribution_carries_what_a_wheel_is_made_of(built):
    with tarfile.open(built[1]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"notebooks/{path.name}" for path in (ROOT / "notebooks").glob("[0-9]*.ipynb")} <= names
    assert "notebooks/zh/00_look.md" in names
    assert {"vistorch/vt/cli/tutorials/copies.py", "hatch_build.py"} <= names
    assert "vistorch/widgets/static/array.js" in names


def test_the_text_for_a_package_index_leads_nowhere_that_is_not_there(built):
    archive = zipfile.ZipFile(built[0])
    (name,) = (one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
    metadata = email.message_from_string(archive.read(name).decode("utf-8"))
    text = metadata.get_payload()
    assert text.startswith("# vistorch") and "make lab" in text and len(text) > 4000
    assert re.findall(r"\]\((?!https?:)[^)]*\)", text) == []
    assert "The whole list, with reasons: docs/differences.md." in " ".join(text.split())
    assert "copies of the tutorials (`notebooks`)" in " ".join(text.split())
    with tarfile.open(built[1]) as source:
        there = {one.partition("/")[2] for one in source.getnames()}
    for one in re.findall(r"`((?:docs|benchmarks|notebooks)[\w/.-]*)`", text):
        assert one in there or any(path.startswith(one + "/") for path in there), one


def test_the_versions_of_python_that_are_named_are_those_that_are_taken(built):
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    oldest = re.search(r'requires-python = ">=3\.(\d+)"', text)[1]
    named = [int(one) for one in re.findall(r"Programming Language :: Python :: 3\.(\d+)", text)]
    assert named == list(range(int(oldest), int(oldest) + len(named)))
    assert sys.version_info.minor in named
