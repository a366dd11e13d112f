"""A button clicked while a cell runs reaches the loop, in both applications, on the oldest and the newest kernel."""

import json
import statistics
import time

import pytest

from tests.ui import kernels

SHOW = """
import json, threading, time
import anywidget, traitlets
from vistorch.widgets._frame.pump import pump, route

class Button(anywidget.AnyWidget):
    _esm = '''export default { render({ model, el }) {
      const button = document.createElement("button");
      button.className = "press";
      button.textContent = "press";
      button.onclick = () => model.send({ sent: Date.now() / 1000 });
      const update = () => { el.dataset.count = model.get("count"); };
      model.on("change:count", update);
      update();
      el.append(button);
    } };'''
    count = traitlets.Int(0).tag(sync=True)

clicks = []
button = Button()
route(button.comm)

def pressed(widget, content, buffers):
    clicks.append((time.time() - content["sent"], threading.current_thread() is threading.main_thread()))
    widget.count = len(clicks)

button.on_msg(pressed)
import ipykernel
print(ipykernel.__version__)
button
"""

LOOP = """
end = time.time() + 20
while len(clicks) < 10 and time.time() < end:
    pump()
    time.sleep(0.002)
print(len(clicks), "while it ran")
"""


# 7.3 is left to tests/widgets/test_pump.py: it hangs, now and then, whatever one does in it.
@pytest.mark.parametrize("kernel", ["ipykernel-6.31", kernels.NEWEST])
def test_clicks_reach_a_running_loop(notebook, kernel):
    nb = notebook(SHOW, LOOP, "print(json.dumps(clicks))", kernel=kernel)
    button = nb.run(0).locator("button.press")
    assert nb.text(0).startswith("6.31") == (kernel == "ipykernel-6.31")
    button.wait_for()
    nb.start(1)
    time.sleep(0.3)
    for count in range(10):
        button.click()
        # What the callback sets is back on the page while the cell still runs.
        nb.page.locator(f'[data-count="{count + 1}"]').wait_for(timeout=3000)
    nb.wait(1)
    assert nb.text(1) == "10 while it ran\n"
    nb.run(2)
    seen = json.loads(nb.text(2))
    assert all(on_main for _, on_main in seen)
    assert statistics.median(late for late, _ in seen) < 0.1
