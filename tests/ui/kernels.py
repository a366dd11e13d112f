"""One kernel for each generation of ipykernel that vistorch supports, with everything else as in this environment.

A kernel is not an environment of its own: its ipykernel lies in a folder which comes first on the kernel's path, so
numpy and the others are shared. The folders are in the environment's own and go with it.

`python -m tests.ui.kernels` fetches what is missing, as tests do when they first need it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = Path(sys.prefix) / "kernels"
# 6 has no subshells; 7.1 to 7.3 run a subshell's messages on its thread; 7.4 sends them where the comm last spoke.
PINNED = {"ipykernel-6.31": "ipykernel==6.31.*", "ipykernel-7.3": "ipykernel==7.3.*"}
NEWEST = "ipykernel-newest"
NAMES = (*PINNED, NEWEST)
# Needed by the old ones, and no longer by the newest.
ALSO = ("nest-asyncio", "psutil")


def fetch(name):
    """Install a pinned ipykernel beside the environment, unless it is there; return its folder."""
    folder = HOME / name
    if not folder.exists():
        HOME.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=HOME) as space:
            # In one move at the end: another run may be fetching the same.
            place = Path(space) / name
            command = [
                sys.executable,
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--no-deps",
            ]
            subprocess.run([*command, "--target", str(place), PINNED[name], *ALSO], check=True)
            try:
                place.rename(folder)
            except OSError:
                if not folder.exists():
                    raise
    return folder


def paths(name):
    """Return what comes first on a kernel's path: its ipykernel, then this checkout."""
    return [*([str(HOME / name)] if name in PINNED else []), str(ROOT)]


def specs():
    """Return the kernel.json of each kernel, by name; what they name may still have to be fetched."""
    return {
        name: {
            "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            "display_name": name,
            "language": "python",
            "env": {"PYTHONPATH": os.pathsep.join(paths(name)), "OMP_NUM_THREADS": "1"},
        }
        for name in NAMES
    }


@contextmanager
def running(name):
    """Start a kernel; give its client, and end it."""
    import json

    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import KernelManager

    if name in PINNED:
        fetch(name)
    folder = Path(tempfile.mkdtemp(prefix="kernel-"))
    try:
        (folder / name).mkdir()
        (folder / name / "kernel.json").write_text(json.dumps(specs()[name]))
        finder = KernelSpecManager(kernel_dirs=[str(folder)], ensure_native_kernel=False)
        manager = KernelManager(kernel_name=name, kernel_spec_manager=finder)
        manager.start_kernel(extra_arguments=[f"--IPKernelApp.ipython_dir={folder}"])
        client = manager.client()
        try:
            client.start_channels()
            client.wait_for_ready(timeout=60)
            yield client
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    """Fetch every pinned ipykernel."""
    for name in PINNED:
        print(f"{name}: {fetch(name)}")


if __name__ == "__main__":
    main()
