"""Where a browser of Chromium's family is on this machine: Chromium, Chrome, Edge, or the one Playwright brings.

The order: what CHROMIUM names; Playwright's own, which fits it best; a name on the path; where installers put it.

`python tests/ui/browsers.py` says which it is; the exit code is 1 where there is none.

Invariant: a browser that CHROMIUM names is the one that is used, or an error: never silently another.
"""

import os
import re
import shutil
import sys
from pathlib import Path

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "google-chrome-beta",
    "chrome",
    "microsoft-edge",
    "microsoft-edge-stable",
    "msedge",
)
NONE_FOUND = (
    "needs a browser: no Chromium, Chrome or Edge is installed here; install one, "
    "run `playwright install chromium`, or name one by CHROMIUM"
)
# Inside the folder of one of Playwright's builds; the names have changed over its releases.
_BUILDS = ("chromium-*", "chromium_headless_shell-*")
_PROGRAMS = {
    "linux": ("chrome-*/chrome", "chrome-*/headless_shell", "chrome-*/chrome-headless-shell"),
    "darwin": (
        "chrome-*/*.app/Contents/MacOS/*",
        "chrome-*/headless_shell",
        "chrome-*/chrome-headless-shell",
    ),
    "win32": ("chrome-*/chrome.exe", "chrome-*/headless_shell.exe", "chrome-*/chrome-headless-shell.exe"),
}


def find(environ=os.environ, platform=sys.platform, root="/"):
    """Return the path of a browser as a string, or None where there is none.

    Args:
        environ: the environment's variables.
        platform: as `sys.platform` has it.
        root: where the file system begins.
    """
    if named := environ.get("CHROMIUM"):
        if found := shutil.which(named, path=environ.get("PATH", "")):
            return found
        raise FileNotFoundError(f"CHROMIUM names {named!r}, which is no program that can be run here.")
    platform = platform if platform in _PROGRAMS else "linux"
    for path in _of_playwright(environ, platform):
        if path.is_file():
            return str(path)
    for name in NAMES:
        if found := shutil.which(name, path=environ.get("PATH", "")):
            return found
    return next((str(path) for path in _installed(environ, platform, Path(root)) if path.is_file()), None)


def _of_playwright(environ, platform):
    """Yield the programs of Playwright's builds, the newest build first, whole browsers before headless shells."""
    for folder in _homes(environ, platform):
        for build in _BUILDS:
            for one in sorted(folder.glob(build), key=_revision, reverse=True):
                for pattern in _PROGRAMS[platform]:
                    yield from sorted(one.glob(pattern))


def _homes(environ, platform):
    """Return the folders that may hold Playwright's builds: the one that is set, or else its usual one."""
    named = environ.get("PLAYWRIGHT_BROWSERS_PATH")
    if named == "0":  # beside the driver, in the package
        import playwright

        return [Path(playwright.__file__).parent / "driver" / "package" / ".local-browsers"]
    if named:
        return [Path(named)]
    if platform == "win32":
        return [one / "ms-playwright" for one in _named(environ, "LOCALAPPDATA")]
    if platform == "darwin":
        return [one / "Library" / "Caches" / "ms-playwright" for one in _named(environ, "HOME")]
    caches = _named(environ, "XDG_CACHE_HOME") or [one / ".cache" for one in _named(environ, "HOME")]
    return [one / "ms-playwright" for one in caches]


def _named(environ, *names):
    """Return the folders that variables name, of those that are set."""
    return [Path(environ[name]) for name in names if environ.get(name)]


def _revision(build):
    """Return the number of a build, which is the end of its name."""
    number = re.search(r"-(\d+)$", build.name)
    return int(number[1]) if number else 0


def _installed(environ, platform, root):
    """Yield where installers put browsers without a name on the path."""
    if platform == "darwin":
        for home in [root, *_named(environ, "HOME")]:
            for app in ("Chromium", "Google Chrome", "Microsoft Edge"):
                yield home / "Applications" / f"{app}.app" / "Contents" / "MacOS" / app
    elif platform == "win32":
        for folder in _named(environ, "PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"):
            for maker, program in (
                ("Chromium", "chrome"),
                ("Google/Chrome", "chrome"),
                ("Microsoft/Edge", "msedge"),
            ):
                yield folder / maker / "Application" / f"{program}.exe"
    else:
        for place in ("google/chrome/chrome", "microsoft/msedge/msedge", "chromium.org/chromium/chromium"):
            yield root / "opt" / place
        yield root / "snap" / "bin" / "chromium"
        for name in ("chromium", "chromium-browser"):
            yield root / "usr" / "lib" / name / name


if __name__ == "__main__":
    sys.exit(print(path) if (path := find()) else NONE_FOUND)
