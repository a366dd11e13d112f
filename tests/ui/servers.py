"""JupyterLab and Notebook 7 as a person starts them, each in a folder of its own.

Invariant: a server ends when the process that started it ends, however that ends: it reads from a pipe which only that
process holds open.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "let-me-in"
MODULES = {"lab": "jupyterlab", "notebook": "notebook"}

# Run as `python -c`: ends the server once the pipe is closed. The pipe moves away from standard input, which every
# process that the server starts inherits: node makes it non-blocking, for all who share it.
UNTIL_THE_PIPE_CLOSES = """
import os, runpy, signal, sys, threading

pipe = os.dup(0)
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)

def wait():
    while os.read(pipe, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)

threading.Thread(target=wait, daemon=True).start()
sys.argv = sys.argv[1:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""

# Nothing is asked of the network, and nothing pops up over the page.
SETTINGS = {
    "apputils-extension/notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
    "extensionmanager-extension/plugin": {"enabled": False},
}


class Server:
    """One running server: its address, its folder, and the few calls of its REST API that tests need."""

    def __init__(self, app, folder, address, process, log):
        self.app, self.folder, self.address = app, folder, address
        self.process, self.log = process, log
        self._ahead = None

    def url(self, path):
        """Return the address of a page, with the token."""
        return f"{self.address}/{path}{'&' if '?' in path else '?'}token={TOKEN}"

    def ask(self, path, method="GET", body=None):
        """Call the REST API; return what it answers."""
        request = urllib.request.Request(
            f"{self.address}/api/{path}",
            None if body is None else json.dumps(body).encode(),
            method=method,
            headers={"Authorization": f"token {TOKEN}"},
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            said = answer.read()
        return json.loads(said) if said else None

    def end_kernels(self, wait=True):
        """End every kernel of a notebook; `wait` until they have ended."""
        ending = [
            threading.Thread(target=self._end, args=(session["id"],)) for session in self.ask("sessions")
        ]
        for thread in ending:
            thread.start()
        for thread in ending if wait else ():
            thread.join()

    def _end(self, session):
        with suppress(urllib.error.HTTPError, OSError):
            self.ask(f"sessions/{session}", "DELETE")

    def lend(self, name):
        """Give a notebook that is about to be opened the kernel that waits, and start the next one's meanwhile."""
        if self._ahead is not None:
            kernel = {"id": self._ahead}
            self.ask("sessions", "POST", {"path": name, "name": name, "type": "notebook", "kernel": kernel})
        self._ahead = self.ask("kernels", "POST", {"name": "python3", "path": name})["id"]


def free_port():
    """Return a port nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def write_settings(folder, settings):
    """Write the settings of the application, {"extension/plugin": {...}}."""
    for name, values in settings.items():
        path = folder / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))


def environment(home):
    """Return the environment of a server: its own folders, the package of this checkout."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "PYTEST"))},
        "PYTHONPATH": os.pathsep.join(paths),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "IPYTHONDIR": str(home / "ipython"),
        "OMP_NUM_THREADS": "1",
    }


def start(app, folder, home, port):
    """Start the process of a server; return it."""
    command = [sys.executable, "-c", UNTIL_THE_PIPE_CLOSES, MODULES[app], "--no-browser", "--allow-root"]
    command += [f"--ServerApp.root_dir={folder}", "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}"]
    command += ["--ServerApp.port_retries=0", f"--IdentityProvider.token={TOKEN}", "--expose-app-in-browser"]
    command += ["--ServerApp.terminals_enabled=False", "--LabApp.extension_manager=readonly"]
    with open(home / "log.txt", "w") as log:
        return subprocess.Popen(
            command,
            env=environment(home),
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def answers(server, seconds=60):
    """Wait until a server answers; say whether it does."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and server.process.poll() is None:
        with suppress(OSError):
            return bool(server.ask("status"))
        time.sleep(0.1)
    return False


def stop(process):
    """End a server with all it started, and wait for it."""
    if process.stdin:
        process.stdin.close()
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # its own group: nothing else is in it
        process.wait()


@contextmanager
def server(app, folder, *, settings=None, kernelspecs=None):
    """Run JupyterLab ("lab") or Notebook 7 ("notebook") on a folder; `kernelspecs` is {name: kernel.json}."""
    folder = Path(folder)
    home = folder.parent / f"{folder.name}-home"
    write_settings(home / "settings", {**SETTINGS, **(settings or {})})
    for name, spec in (kernelspecs or {}).items():
        place = home / "data" / "kernels" / name
        place.mkdir(parents=True, exist_ok=True)
        (place / "kernel.json").write_text(json.dumps(spec))
    for _ in range(3):  # another process may take the port meanwhile
        port = free_port()
        process = start(app, folder, home, port)
        running = Server(app, folder, f"http://127.0.0.1:{port}", process, home / "log.txt")
        try:
            if answers(running):
                yield running
                return
        finally:
            stop(process)
    raise RuntimeError(f"{app} did not start:\n{running.log.read_text()[-3000:]}")
