"""`python -m docs.making.lite` builds a JupyterLite into build/lite: every tutorial, in a browser, with no install.

By itself, the page that is built takes Pyodide and the packages of others from where JupyterLite takes them, which is
the internet. `--wheels FOLDER` puts the wheels of a folder into the site, so that a page asks no package index;
`--pyodide ARCHIVE` puts a release of Pyodide in.
Invariant: the notebooks are those of the repository, with one cell more.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from vistorch.tutorials.translations import ENGLISH

from .notebooks import read
from .translations import LANGUAGES

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "build" / "lite"
MOST = 25_000_000  # bytes of the site's own files, compressed; a release of Pyodide and wheels of others come on top
# What a wheel carries for a computer: the notebooks are in the site, and types are for editors.
LEFT_OUT = ("vistorch/vt/cli/tutorials/notebooks/", "vistorch-stubs/")
FIRST = "%pip install -q vistorch"
WITHOUT = (
    "JupyterLite is not installed: `make lite` installs it, or pip install -e '.[lite]', which takes the wheels from "
    "a folder where pip's configuration names one."
)


def main(given: Sequence[str] | None = None) -> int:
    """Build; return an exit code.

    Args:
        given: the arguments; those of the command line, if not given.
    """
    parser = argparse.ArgumentParser(prog="python -m docs.making.lite")
    parser.add_argument("--wheels", type=Path, help="a folder of wheels to put into the site")
    parser.add_argument("--pyodide", help="an archive of a release of Pyodide, to put into the site")
    parser.add_argument("--out", type=Path, default=BUILT, help="where to; what is there is deleted first")
    asked = parser.parse_args(given)
    try:
        import jupyterlite_core  # noqa: F401  # pyright: ignore[reportMissingImports]
        import jupyterlite_pyodide_kernel  # noqa: F401  # pyright: ignore[reportMissingImports]
    except ImportError:
        print(WITHOUT, file=sys.stderr)
        return 2
    shutil.rmtree(asked.out, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        wheels = [slim(wheel_of_here(here / "made"), here / "wheels")]
        wheels += sorted(asked.wheels.glob("*-none-any.whl")) if asked.wheels else []
        for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")):
            copied(path, here / "contents")
            for language in LANGUAGES:
                copied(path, here / "contents" / language, language)
        settings(here / "lite", offline=bool(asked.wheels))
        words = ["build", "--lite-dir", str(here / "lite"), "--contents", str(here / "contents")]
        words += ["--output-dir", str(asked.out.resolve()), "--no-sourcemaps", "--no-unused-shared-packages"]
        words += [word for wheel in wheels for word in ("--piplite-wheels", str(wheel))]
        words += ["--pyodide", asked.pyodide] if asked.pyodide else []
        program = "from jupyterlite_core.app import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", program, *words], cwd=here, capture_output=True, text=True
        )
        if done.returncode:
            print(done.stdout[-2000:], done.stderr[-4000:], sep="\n", file=sys.stderr)
            return done.returncode
    size = compressed(asked.out)
    print(f"{size / 1e6:.1f} MB compressed: {asked.out}/lab/index.html, to be served (python -m http.server)")
    if size > MOST and not (asked.wheels or asked.pyodide):
        print(f"The site is larger than {MOST / 1e6:.0f} MB compressed.", file=sys.stderr)
        return 1
    return 0


def wheel_of_here(folder: Path) -> Path:
    """Build the wheel of this checkout.

    Args:
        folder: where to.
    """
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", str(folder), str(ROOT)], check=True)
    return next(folder.glob("vistorch-*.whl"))


def slim(wheel: Path, folder: Path) -> Path:
    """Write a wheel without what a browser has no use for, its list of files put right.

    Args:
        wheel: the wheel as it is built.
        folder: where to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (
        zipfile.ZipFile(wheel) as old,
        zipfile.ZipFile(folder / wheel.name, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        names = [name for name in old.namelist() if not name.startswith(LEFT_OUT)]
        record = next(name for name in names if name.endswith(".dist-info/RECORD"))
        rows = []
        for name in names:
            if name == record:
                continue
            data = old.read(name)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append(f"{name},sha256={digest},{len(data)}")
            new.writestr(name, data)
        new.writestr(record, "\n".join([*rows, f"{record},,", ""]))
    return folder / wheel.name


def copied(path: Path, folder: Path, language: str = ENGLISH) -> None:
    """Write a tutorial's copy: a cell that installs vistorch, then the notebook as it is.

    Args:
        path: the notebook.
        folder: where to.
        language: which words it has.
    """
    notebook = read(path, language)
    cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": FIRST}
    if any("id" in one for one in notebook["cells"]):
        cell["id"] = "install"
    for one in notebook["cells"]:
        joined(one)
    notebook["cells"].insert(0, cell)
    notebook["metadata"]["kernelspec"] = {
        "display_name": "Python (Pyodide)",
        "language": "python",
        "name": "python",
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / path.name).write_text(
        json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )


def joined(cell: dict) -> None:
    """Make one text of each list of lines in a cell, as a server does when it opens a file; JupyterLite does not.

    Args:
        cell: a cell as it is in the file; it is changed.
    """
    bundles = [cell, *cell.get("outputs", ()), *(one.get("data", {}) for one in cell.get("outputs", ()))]
    for bundle in bundles:
        for key, value in bundle.items():
            lines = isinstance(value, list) and all(isinstance(line, str) for line in value)
            if lines and (key in ("source", "text") or ("/" in key and not key.endswith("json"))):
                bundle[key] = "".join(value)


def settings(folder: Path, offline: bool) -> None:
    """Write what JupyterLite reads: the site's name, and whether a page may ask a package index.

    Args:
        folder: where to.
        offline: a page takes packages from the site alone.
    """
    kernel = {"@jupyterlite/pyodide-kernel-extension:kernel": {"disablePyPIFallback": offline}}
    data = {"appName": "vistorch", "litePluginSettings": kernel}
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"jupyter-lite-schema-version": 0, "jupyter-config-data": data}, indent=1)
    (folder / "jupyter-lite.json").write_text(text + "\n", encoding="utf-8")


def compressed(folder: Path) -> int:
    """Return how many bytes the files of a folder take as a server sends them.

    Args:
        folder: the site.
    """
    files = [path for path in folder.rglob("*") if path.is_file()]
    return sum(min(path.stat().st_size, len(gzip.compress(path.read_bytes(), 6))) for path in files)


if __name__ == "__main__":
    sys.exit(main())
