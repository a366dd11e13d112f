"""Messages to widgets while a cell runs: handled soon, each once, on the main thread; cells keep their order."""

import json
import random
import re
import statistics
import subprocess
import sys
import textwrap
import time
from types import SimpleNamespace

import pytest

from tests.ui import kernels
from vistorch.widgets._frame import pump as module

pytestmark = [pytest.mark.ui, pytest.mark.timeout(120)]

OPEN = """
import json, threading, time
import comm
from vistorch.widgets._frame.pump import pump, route, why_not

said, letters = [], []

def received(message):
    data = message["content"]["data"]
    said.append((data["n"], time.time() - data["sent"], threading.current_thread() is threading.main_thread()))

channel = comm.create_comm(target_name="vistorch")
channel.on_msg(received)
route(channel)
print(channel.comm_id)
"""

LOOP = """
end = time.time() + {seconds}
while time.time() < end and len(said) < {count}:
    pump()
    time.sleep(0.002)
print(len(said), flush=True)
"""


@pytest.fixture(scope="module", params=kernels.NAMES)
def client(request):
    with kernels.running(request.param) as client:
        client.name, client.replied = request.param, set()
        client.comm = run(client, OPEN).strip()
        version = run(client, "import ipykernel; print(ipykernel.__version__)").split(".")
        client.takes_first = (
            (7, 1) <= (int(version[0]), int(version[1])) <= (7, 3)
        )  # also Python 3.10's newest
        yield client


def run(client, code, *, fails=False):
    """Run a cell; return what it printed."""
    return result(client, client.execute(code), fails=fails)


def result(client, request, *, fails=False):
    """Wait for a cell's end and its reply; return what it printed."""
    printed = []
    while True:
        message = client.get_iopub_msg(timeout=15)
        if message["parent_header"].get("msg_id") != request:
            continue
        kind, content = message["msg_type"], message["content"]
        if kind == "stream":
            printed.append(content["text"])
        elif kind == "error":
            assert fails, "\n".join(content["traceback"])
        elif kind == "status" and content["execution_state"] == "idle":
            break
    # ipykernel 7.3 hangs for good, now and then, if a request reaches it while it sends a reply (mended in 7.4).
    while request not in client.replied:
        client.replied.add(client.get_shell_msg(timeout=15)["parent_header"].get("msg_id"))
    return "".join(printed)


def click(client, number, subshell=None):
    """Send a message to the comm, as a page does."""
    message = client.session.msg(
        "comm_msg", {"comm_id": client.comm, "data": {"n": number, "sent": time.time()}}
    )
    if subshell:
        message["header"]["subshell_id"] = subshell
    client.shell_channel.send(message)
    return message["header"]["msg_id"]


def new_subshell(client):
    """Ask for a subshell as a page does; return its name, None where the kernel has none."""
    message = client.session.msg("create_subshell_request", {})
    client.control_channel.send(message)
    reply = client.get_control_msg(timeout=10)
    while reply["parent_header"].get("msg_id") != message["header"]["msg_id"]:
        reply = client.get_control_msg(timeout=10)
    return reply["content"]["subshell_id"]


@pytest.fixture(params=["main", "subshell"])
def subshell(request, client):
    """Where the page sends what it has to say: to the main shell, or to a subshell where there are any."""
    if request.param == "main" or client.name == "ipykernel-6.31":
        return None
    return new_subshell(client)


def test_messages_are_handled_while_the_cell_runs(client, subshell):
    run(client, "said.clear(); letters.clear()")
    pause = random.Random(0)
    request = client.execute(LOOP.format(seconds=20, count=30))
    time.sleep(0.2)
    cells = []
    for number in range(30):
        click(client, number, subshell)
        if number % 6 == 3:
            cells.append(client.execute(f"letters.append({number})"))
        time.sleep(pause.uniform(0.005, 0.04))
    assert result(client, request) == "30\n"
    for cell in cells:
        result(client, cell)
    seen, order = json.loads(run(client, "print(json.dumps([said, letters]))"))
    assert [number for number, _, _ in seen] == list(range(30))
    assert all(on_main for _, _, on_main in seen)
    assert statistics.median(late for _, late, _ in seen) < 0.05
    assert order == [3, 9, 15, 21, 27]


def test_without_a_pump_they_wait_for_the_end_of_the_cell(client, subshell):
    run(client, "said.clear()")
    request = client.execute("time.sleep(0.6); print(len(said))")
    time.sleep(0.2)
    click(client, 0, subshell)
    assert result(client, request) == "0\n"
    assert json.loads(eventually(client, "print(json.dumps(said))", "[]\n"))[0][2]


def eventually(client, code, empty):
    """Run a cell until it prints something else."""
    for _ in range(50):
        printed = run(client, code)
        if printed != empty:
            break
        time.sleep(0.02)
    return printed


def test_cells_sent_meanwhile_keep_their_order_when_the_loop_ends_early(client):
    run(client, "said.clear(); letters.clear()")
    request = client.execute(LOOP.format(seconds=1, count=1))
    cells = []
    for number in range(40):
        cells.append(client.execute(f"letters.append({number})"))
        if number == 20:
            click(client, 0)
    assert result(client, request) == "1\n"
    if not client.takes_first:  # for what `result` says of it
        cells += [client.execute(f"letters.append({number})") for number in range(40, 60)]
    for cell in cells:
        result(client, cell)
    assert json.loads(run(client, "print(letters)")) == list(range(len(cells)))


def test_a_cell_that_awaits_keeps_the_order_too(client):
    run(client, "import asyncio; said.clear(); letters.clear()")
    code = "for _ in range(40):\n    pump()\n    await asyncio.sleep(0.005)\n    time.sleep(0.005)\nprint(len(said))"
    request = client.execute(code)
    cells = []
    for number in range(20):
        cells.append(client.execute(f"letters.append({number})"))
        click(client, number)
        time.sleep(0.01)
    handled = int(result(client, request))
    # While such a cell waits, ipykernel 7.1 to 7.3 itself takes the messages, and puts them behind the cell.
    assert handled >= 15 or client.takes_first
    for cell in cells:
        result(client, cell)
    assert json.loads(run(client, "print(letters)")) == list(range(20))
    assert json.loads(run(client, "print([said[i][0] for i in range(len(said))])")) == list(range(20))


def test_cells_behind_one_that_fails_are_not_run(client):
    run(client, "letters.clear()")
    request = client.execute("end = time.time() + 0.6\nwhile time.time() < end: pump()\n1 / 0")
    time.sleep(0.2)
    behind = [client.execute(f"letters.append({number})") for number in range(3)]
    result(client, request, fails=True)
    for cell in behind:
        result(client, cell)
    time.sleep(0.3)  # the kernel passes over what reached it before this
    assert run(client, "print(letters)") == "[]\n"


def test_what_the_cell_prints_stays_with_the_cell(client):
    request = client.execute(
        "said.clear(); print('before')\nwhile not said:\n    pump(); time.sleep(0.005)\nprint('after')"
    )
    time.sleep(0.2)
    message = click(client, 0)
    assert result(client, request) == "before\nafter\n"
    assert message != request


def test_the_end_of_a_cell_is_not_emitted_in_its_middle(client):
    run(
        client,
        "ends = []; count = lambda: ends.append(1); get_ipython().events.register('post_execute', count)",
    )
    request = client.execute("said.clear()\nwhile not said:\n    pump(); time.sleep(0.005)\nprint(len(ends))")
    time.sleep(0.2)
    click(client, 0)
    assert result(client, request) == "1\n"  # the end of the cell before this one
    assert int(run(client, "get_ipython().events.unregister('post_execute', count); print(len(ends))")) >= 2


def test_an_interrupt_in_a_callback_ends_the_cell_and_loses_nothing(client):
    run(
        client,
        "said.clear(); letters.clear(); channel.on_msg(lambda m: (_ for _ in ()).throw(KeyboardInterrupt))",
    )
    request = client.execute("while True:\n    pump(); time.sleep(0.005)")
    time.sleep(0.2)
    cell = client.execute("letters.append(1)")
    click(client, 0)
    result(client, request, fails=True)
    result(client, cell)
    run(client, "channel.on_msg(received)")
    click(client, 1)
    assert json.loads(eventually(client, "print(json.dumps(said))", "[]\n"))[0][0] == 1


def test_a_callback_that_fails_does_not_end_the_cell(client):
    run(
        client, "seen = []\ndef bad(m):\n    seen.append(1)\n    raise ValueError('bad')\nchannel.on_msg(bad)"
    )
    request = client.execute("while len(seen) < 2:\n    pump(); time.sleep(0.005)\nprint('on')")
    time.sleep(0.2)
    click(client, 0)
    click(client, 1)
    assert result(client, request) == "on\n"
    run(client, "channel.on_msg(received)")


def test_more_than_one_step_takes_is_handled_after_the_cell(client):
    run(client, "said.clear(); letters.clear()")
    request = client.execute("time.sleep(0.8); pump(); print(len(said))")
    time.sleep(0.1)
    for number in range(100):
        click(client, number)
    cell = client.execute("letters.append(1)")
    assert result(client, request) == "64\n"
    result(client, cell)
    assert json.loads(run(client, "print([number for number, _, _ in said])")) == list(range(100))


def test_a_comm_that_spoke_on_a_subshell_is_still_answered_on_the_main_one(client):
    code = "channel._reply_subshell_id = 'other'\nask = getattr(channel, '_reply_subshell_for', None)\n"
    assert run(client, code + "print(ask and ask({}, 'asked'))") == "None\n"


def test_it_costs_little_when_nobody_clicks(client):
    code = (
        "start = time.perf_counter()\nfor _ in range(100_000): pump()\nprint(time.perf_counter() - start)\n"
    )
    assert float(run(client, code)) < 0.5  # 5 us a step, on a busy machine


def test_it_says_why_it_cannot(client):
    assert run(client, "print(repr(why_not()))") == "''\n"
    code = "t = threading.Thread(target=lambda: print(why_not(), pump()), name='other'); t.start(); t.join()"
    assert run(client, code) == (
        "Clicks wait for the end of the cell: they are handled on the main thread, and this is 'other'. 0\n"
    )


def test_a_forked_process_leaves_the_kernel_alone(client):
    code = """
    import os
    child = os.fork()
    if child == 0:
        time.sleep(0.05)
        os._exit(42 if pump() == 0 and "not a notebook kernel" in why_not() else 1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert run(client, textwrap.dedent(code)) == "42\n"


def test_an_interrupt_between_two_messages_loses_none(client):
    run(client, "said.clear(); letters.clear()")
    code = """
    import os, signal
    from vistorch.widgets._frame import pump as module
    kind = module._type_of
    def interrupted(*arguments):
        os.kill(os.getpid(), signal.SIGINT)  # as a reader does, in the midst of sorting
        return kind(*arguments)
    module._type_of = interrupted
    try:
        while True:
            pump()
    except KeyboardInterrupt:
        print("interrupted")
    finally:
        module._type_of = kind
    """
    request = client.execute(textwrap.dedent(code))
    time.sleep(0.1)
    cells = [client.execute(f"letters.append({number})") for number in range(3)]
    click(client, 7)
    assert result(client, request) == "interrupted\n"
    for cell in cells:
        result(client, cell)
    assert run(client, "print(letters)") == "[0, 1, 2]\n"
    assert json.loads(eventually(client, "print(json.dumps(said))", "[]\n"))[0][0] == 7


def test_outside_a_kernel_nothing_happens_and_nothing_is_imported():
    code = (
        "import sys, time; from vistorch.widgets._frame.pump import pump, why_not; assert pump() == 0;"
        "time.sleep(0.05);"
        "assert pump() == 0; print(why_not());"
        "assert not {'IPython', 'ipykernel', 'zmq', 'anywidget'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=kernels.ROOT)
    assert (done.stdout, done.stderr) == ("Nobody can click here: this is not a notebook kernel.\n", "")


def test_a_kernel_that_hides_its_messages_is_reported_in_words():
    pump = module.Pump(SimpleNamespace(session=None))
    assert pump() == 0
    assert re.fullmatch(
        r"Clicks wait for the end of the cell: ipykernel \S+ keeps them where vistorch does not look\.",
        pump.why_not(),
    )
