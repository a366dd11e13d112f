"""The magic in a real kernel: pictures where there is a page, one line for a mistake, clean ends."""

import os
from pathlib import Path

import pytest
from jupyter_client.manager import KernelManager

ROOT = Path(__file__).parents[2]
PICTURE = {"text/plain", "image/png"}


class Kernel:
    """A kernel and what its cells put out."""

    def __init__(self, client):
        self.client = client

    def run(self, code):
        """Run a cell; return its outputs and its reply."""
        outputs = []
        reply = self.client.execute_interactive(
            code, timeout=60, output_hook=outputs.append, stop_on_error=False
        )
        shown = [one for one in outputs if one["msg_type"] not in ("status", "execute_input")]
        return shown, reply["content"]

    def text(self, code):
        """Run a cell that prints and nothing else; return the text."""
        shown, reply = self.run(code)
        assert reply["status"] == "ok", reply
        assert {one["msg_type"] for one in shown} <= {"stream"}, shown
        return "".join(one["content"]["text"] for one in shown)

    def complete(self, code):
        """What Tab offers at the end."""
        content = self.client.complete(code, reply=True, timeout=60)["content"]
        return [code[: content["cursor_start"]].split(" ")[-1] + word for word in content["matches"]]


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    paths = {
        name: str(home / name.lower()) for name in ("IPYTHONDIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    }
    environment = {**os.environ, **paths, "PYTHONPATH": str(ROOT), "JUPYTER_PLATFORM_DIRS": "1"}
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(env=environment, cwd=str(home))
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        yield Kernel(client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()


@pytest.fixture
def kernel(running):
    running.run("%reset -f")
    running.run("%load_ext vistorch")
    running.run("import vistorch, numpy as np\nfrom vistorch import nn, vt")
    yield running
    running.run("%unload_ext vistorch")


def test_the_overview_is_printed(kernel):
    assert kernel.text("%vt").startswith("vistorch ")
    assert kernel.text("%vt show?").startswith("%vt show EXPRESSION")


def test_a_mistake_is_one_line_and_stops_the_run(kernel):
    shown, reply = kernel.run("%vt shwo x\nprint('not reached')")
    assert reply["status"] == "error"
    assert [one["msg_type"] for one in shown] == ["stream"]
    assert shown[0]["content"]["text"] == "UsageError: there is no command 'shwo'; did you mean show?\n"


def test_completion(kernel):
    kernel.run("x = vistorch.ones(3)\nlayer = nn.Linear(2, 2)")
    assert kernel.complete("%vt sh") == ["show"]
    assert kernel.complete("%vt show ") == ["layer", "x"]
    assert kernel.complete("%vt show layer.wei") == ["layer.weight"]
    assert kernel.complete("%vt show x --scale l") == ["log"]


def test_the_doctor_knows_the_kernel(kernel):
    text = kernel.text("%vt doctor")
    assert "ok  kernel" in text
    assert "ipykernel" in text
    assert "trust" in text


def test_vars_show_a_table(kernel):
    kernel.run("x = vistorch.ones(3, 4)")
    shown, reply = kernel.run("%vt vars")
    assert reply["status"] == "ok"
    (table,) = [one["content"]["data"] for one in shown if one["msg_type"] == "display_data"]
    assert "x     tensor  (3, 4)" in table["text/plain"]
    assert set(table) == {"text/plain", "image/svg+xml", "text/html"}  # its rows are opened by the kernel
    assert 'key:""' not in table["text/html"]
    shown, reply = kernel.run("%config VisTorch.live = 'off'\n%vt vars\n%config VisTorch.live = 'auto'")
    assert [one["msg_type"] for one in shown] == ["display_data"]
    assert {"text/plain", "image/svg+xml", "text/html"} == set(shown[0]["content"]["data"])


def test_a_tensor_shows_itself_and_its_text_is_pytorch_s(kernel):
    shown, _ = kernel.run("vistorch.arange(6.).reshape(2, 3)")
    (result,) = shown
    assert result["msg_type"] == "execute_result"
    assert PICTURE <= set(result["content"]["data"])
    assert result["content"]["data"]["text/plain"] == "tensor([[0., 1., 2.],\n        [3., 4., 5.]])"


def test_a_value_without_a_name_is_called_what_it_can_be_called(kernel):
    kernel.run("from vistorch.widgets._frame.display import shown\nx = vistorch.ones(2)")
    (result,), _ = kernel.run("x * 3")
    name = f"Out[{result['content']['execution_count']}]"
    assert kernel.text(f"print(shown.last.name, {name})") == f"{name} tensor([3., 3.])\n"
    kernel.run("x")
    assert kernel.text("print(shown.last.name)") == "x\n"
    kernel.run("display(x * 3)")  # kept nowhere
    assert kernel.text("print(shown.last.name)") == "x\n"


def test_a_parameter_shows_itself_too(kernel):
    shown, _ = kernel.run("nn.Linear(2, 2).weight")
    assert PICTURE <= set(shown[0]["content"]["data"])
    assert shown[0]["content"]["data"]["text/plain"].startswith("Parameter containing:\ntensor([[")


def test_automatic_display_can_be_switched_off_and_ends_with_the_extension(kernel):
    kernel.run("%config VisTorch.automatic = False")
    shown, _ = kernel.run("vistorch.ones(2)")
    assert shown[0]["content"]["data"] == {"text/plain": "tensor([1., 1.])"}
    kernel.run("%config VisTorch.automatic = True\n%unload_ext vistorch")
    shown, _ = kernel.run("vistorch.ones(2)")
    assert shown[0]["content"]["data"] == {"text/plain": "tensor([1., 1.])"}


def test_a_picture_that_fails_leaves_the_text(kernel):
    kernel.run(
        "from unittest import mock\nbroken = mock.patch('vistorch.vt.automatic.plain', side_effect=OSError('no'))"
    )
    kernel.run("broken.start()")
    try:
        shown, reply = kernel.run("vistorch.ones(2)")
    finally:
        kernel.run("broken.stop()")
    assert reply["status"] == "ok"
    assert [one["content"]["data"] for one in shown if one["msg_type"] == "execute_result"] == [
        {"text/plain": "tensor([1., 1.])"}
    ]
    said = "".join(one["content"]["text"] for one in shown if one["msg_type"] == "stream")
    assert said == "a tensor is shown as text alone, its picture failed: OSError: no\n"


def test_show_displays_also_in_a_loop(kernel):
    shown, reply = kernel.run("for n in (1, 2):\n    x = vistorch.ones(n)\n    %vt show x")
    assert reply["status"] == "ok", reply
    assert [one["msg_type"] for one in shown] == ["display_data"] * 2
    assert shown[1]["content"]["data"]["text/plain"] == "tensor([1., 1.])"


def test_the_function_s_value_shows_itself(kernel):
    shown, _ = kernel.run("vt.show(vistorch.ones(2))")
    assert shown[0]["msg_type"] == "execute_result"
    assert PICTURE <= set(shown[0]["content"]["data"])


def test_export_of_what_was_shown(kernel):
    kernel.run("x = vistorch.randn(20, 20)\nlayer = nn.Linear(2, 2)")
    kernel.run("%vt show x")
    kernel.run("%vt show layer.weight")
    assert kernel.text("%vt export a.png x").endswith(": x\n")
    assert kernel.text("print(open('a.png', 'rb').read(4)[1:4])") == "b'PNG'\n"
    assert kernel.text("%vt export b.svg").endswith(": layer.weight\n")
    assert kernel.text("print(open('b.svg').read()[:4])") == "<svg\n"


def test_a_large_tensor_has_a_picture_whether_or_not_its_page_is_built(kernel):
    kernel.run("big = vistorch.randn(600, 600)")
    for line in ("%vt show big", "vt.show(big)", "big"):
        shown, reply = kernel.run(line)
        assert reply["status"] == "ok", reply
        pictures = [one for one in shown if one["msg_type"] in ("display_data", "execute_result")]
        assert len(pictures) == 1
        assert PICTURE <= set(pictures[0]["content"]["data"])
