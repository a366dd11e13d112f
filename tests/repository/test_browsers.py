"""Which browser the tests take: on every system, wherever it comes from, and none in silence."""

import pytest

from tests.ui import browsers

PROGRAMFILES = "PROGRAMFILES(X86)"


def put(path):
    """Make an executable file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("name", browsers.NAMES)
def test_every_name_on_the_path_is_found(tmp_path, name):
    there = put(tmp_path / "bin" / name)
    assert browsers.find({"PATH": str(tmp_path / "bin")}, "linux", tmp_path) == there


@pytest.mark.parametrize(
    ("platform", "place"),
    [
        ("linux", "opt/google/chrome/chrome"),
        ("linux", "opt/microsoft/msedge/msedge"),
        ("linux", "usr/lib/chromium/chromium"),
        ("linux", "snap/bin/chromium"),
        ("linux", "home/.cache/ms-playwright/chromium-1200/chrome-linux64/chrome"),
        ("linux", "home/.cache/ms-playwright/chromium-1100/chrome-linux/chrome"),
        ("linux", "home/.cache/ms-playwright/chromium_headless_shell-1100/chrome-linux/headless_shell"),
        (
            "linux",
            "home/.cache/ms-playwright/chromium_headless_shell-1200"
            "/chrome-headless-shell-linux64/chrome-headless-shell",
        ),
        ("darwin", "Applications/Google Chrome.app/Contents/MacOS/Google Chrome"),
        ("darwin", "home/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge"),
        (
            "darwin",
            "home/Library/Caches/ms-playwright/chromium-1200/chrome-mac-arm64"
            "/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing",
        ),
        (
            "darwin",
            "home/Library/Caches/ms-playwright/chromium-1100/chrome-mac/Chromium.app/Contents/MacOS/Chromium",
        ),
        ("win32", "pf/Google/Chrome/Application/chrome.exe"),
        ("win32", "pf86/Microsoft/Edge/Application/msedge.exe"),
        ("win32", "local/Chromium/Application/chrome.exe"),
        ("win32", "local/ms-playwright/chromium-1100/chrome-win/chrome.exe"),
    ],
)
def test_installed_ones_are_found_without_a_name_on_the_path(tmp_path, platform, place):
    environ = {
        "PATH": str(tmp_path / "empty"),
        "HOME": str(tmp_path / "home"),
        "PROGRAMFILES": str(tmp_path / "pf"),
        PROGRAMFILES: str(tmp_path / "pf86"),
        "LOCALAPPDATA": str(tmp_path / "local"),
    }
    assert browsers.find(environ, platform, tmp_path) is None
    there = put(tmp_path / place)
    assert browsers.find(environ, platform, tmp_path) == there


def test_the_one_that_is_named_comes_first_then_playwrights_newest(tmp_path):
    named = put(tmp_path / "mine" / "browser")
    put(tmp_path / "bin" / "chromium")
    environ = {"PATH": f"{tmp_path / 'bin'}", "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path / "own")}
    put(tmp_path / "own" / "chromium-999" / "chrome-linux" / "chrome")
    newest = put(tmp_path / "own" / "chromium-1000" / "chrome-linux" / "chrome")
    put(tmp_path / "own" / "chromium_headless_shell-2000" / "chrome-linux" / "headless_shell")
    assert browsers.find(environ, "linux", tmp_path) == newest
    assert browsers.find({**environ, "CHROMIUM": named}, "linux", tmp_path) == named


def test_a_wrong_name_is_an_error_and_no_other_browser(tmp_path):
    put(tmp_path / "bin" / "chromium")
    with pytest.raises(FileNotFoundError, match="CHROMIUM names 'nowhere'"):
        browsers.find({"PATH": str(tmp_path / "bin"), "CHROMIUM": "nowhere"}, "linux", tmp_path)


def test_playwrights_folder_inside_its_package_is_looked_at(tmp_path):
    environ = {"PATH": str(tmp_path), "PLAYWRIGHT_BROWSERS_PATH": "0"}
    assert browsers.find(environ, "linux", tmp_path) in (None,) or "local-browsers" in browsers.find(
        environ, "linux", tmp_path
    )
