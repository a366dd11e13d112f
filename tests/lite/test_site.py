"""The site of JupyterLite, as far as it is made here: the wheel it carries, its notebooks, its settings."""

import base64
import hashlib
import json
import sys
import zipfile

import nbformat
import pytest

from docs.making import lite

NOTEBOOKS = sorted((lite.ROOT / "notebooks").glob("[0-9]*.ipynb"))


def test_the_wheel_of_the_site_leaves_out_what_a_browser_has_no_use_for(tmp_path):
    made = tmp_path / "vistorch-1-py3-none-any.whl"
    files = {
        "vistorch/__init__.py": b"",
        "vistorch/widgets/static/graph.js": b"export {}",
        "vistorch/vt/cli/tutorials/notebooks/00_look.ipynb": b"{}",
        "vistorch-stubs/__init__.pyi": b"",
        "vistorch-1.dist-info/METADATA": b"Name: vistorch",
        "vistorch-1.dist-info/RECORD": b"old",
    }
    with zipfile.ZipFile(made, "w") as file:
        for name, data in files.items():
            file.writestr(name, data)
    with zipfile.ZipFile(lite.slim(made, tmp_path / "slim")) as file:
        kept = set(file.namelist())
        rows = [row.split(",") for row in file.read("vistorch-1.dist-info/RECORD").decode().splitlines()]
    assert kept == {name for name in files if "notebooks" not in name and "stubs" not in name}
    assert {name for name, _, _ in rows} == kept
    digest = base64.urlsafe_b64encode(hashlib.sha256(b"export {}").digest()).decode().rstrip("=")
    assert ["vistorch/widgets/static/graph.js", f"sha256={digest}", "9"] in rows


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_tutorial_has_one_cell_more_there(path, tmp_path):
    lite.copied(path, tmp_path)
    # JupyterLite shows a file as it is: what a server joins when it reads one has to be joined there.
    as_served = nbformat.read(path, as_version=4)
    new = json.loads((tmp_path / path.name).read_text(encoding="utf-8"))
    assert new["cells"][0]["source"] == "%pip install -q vistorch" and new["cells"][1:] == as_served["cells"]
    assert len({cell.get("id", number) for number, cell in enumerate(new["cells"])}) == len(new["cells"])


def test_a_tutorial_in_chinese_is_there_too(tmp_path):
    lite.copied(NOTEBOOKS[0], tmp_path, "zh")
    new = json.loads((tmp_path / NOTEBOOKS[0].name).read_text(encoding="utf-8"))
    assert new["cells"][1]["source"].startswith("# 看一看\n")


@pytest.mark.parametrize("offline", [True, False])
def test_a_site_with_wheels_asks_no_package_index(offline, tmp_path):
    lite.settings(tmp_path, offline)
    data = json.loads((tmp_path / "jupyter-lite.json").read_text())["jupyter-config-data"]
    assert data["litePluginSettings"]["@jupyterlite/pyodide-kernel-extension:kernel"] == {
        "disablePyPIFallback": offline
    }


def test_without_jupyterlite_a_sentence_says_how_to_get_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "jupyterlite_core", None)
    assert lite.main([]) == 2
    assert "pip install -e '.[lite]'" in capsys.readouterr().err


def test_only_what_a_computer_has_is_asked_for_there():
    from packaging.requirements import Requirement

    text = (
        (lite.ROOT / "pyproject.toml")
        .read_text(encoding="utf-8")
        .partition("dependencies = [")[2]
        .partition("\n]")[0]
    )
    wanted = [Requirement(row.partition('"')[2].partition('"')[0]) for row in text.splitlines() if '"' in row]
    there = {
        one.name
        for one in wanted
        if one.marker is None or one.marker.evaluate({"sys_platform": "emscripten"})
    }
    here = {
        one.name for one in wanted if one.marker is None or one.marker.evaluate({"sys_platform": "linux"})
    }
    assert here - there == {"ipykernel", "matplotlib"}
    assert {"numpy", "ml_dtypes", "anywidget", "ipywidgets"} <= there
