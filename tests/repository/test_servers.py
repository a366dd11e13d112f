"""The servers of the browser tests live until their pipe closes, and no shorter."""

import os
import subprocess
import sys

from tests.ui.servers import UNTIL_THE_PIPE_CLOSES

# As node does in JupyterLab: it makes its standard input non-blocking.
SERVER = """
import subprocess, sys, time
subprocess.run([sys.executable, "-c", "import os; os.set_blocking(0, False)"])
print("ready", flush=True)
time.sleep(60)
"""


def test_a_child_that_makes_its_input_non_blocking_ends_no_server(tmp_path):
    (tmp_path / "a_server.py").write_text(SERVER)
    process = subprocess.Popen(
        [sys.executable, "-c", UNTIL_THE_PIPE_CLOSES, "a_server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    with process:
        assert process.stdout.readline() == b"ready\n"
        process.stdin.write(b"x")  # read at once, and then the pipe is empty
        process.stdin.flush()
        try:
            code = process.wait(0.5)
        except subprocess.TimeoutExpired:
            code = None
        assert code is None
        process.stdin.close()
        assert process.wait(10) != 0
