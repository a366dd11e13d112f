"""What is defined in a notebook cell works in other processes: the main module here is no file, as there."""

import subprocess
import sys

import pytest

CELLS = """
import vistorch, vistorch.multiprocessing as mp
from vistorch import nn

FACTOR = 3

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 1)
    def forward(self, x):
        return self.inner(x) * FACTOR

class Note:
    def __init__(self, n):
        self.n = n

def grown(note):
    return Note(note.n * note.n)

def work(i, net, queue, lock):
    with lock, vistorch.no_grad():
        net.inner.weight.add_(1)
    queue.put((Note(i), grown(Note(i)), net(vistorch.ones(2)).shape))

class Own(mp.Process):
    def __init__(self, queue):
        super().__init__()
        self.queue = queue
    def run(self):
        self.queue.put(Note(5))

context = mp.get_context("METHOD")
queue, lock, net = context.Queue(), context.Lock(), Net().share_memory()
with vistorch.no_grad():
    net.inner.weight.zero_()
mp.start_processes(work, (net, queue, lock), nprocs=2, start_method="METHOD")
print(sorted((a.n, b.n, list(shape)) for a, b, shape in (queue.get() for _ in range(2))))
print(net.inner.weight.tolist())
with context.Pool(1) as pool:
    print([note.n for note in pool.map(grown, [Note(2), Note(3)])])
mp.set_start_method("METHOD", force=True)
queue = mp.Queue()
own = Own(queue)
own.start()
print(queue.get().n)
own.join()
try:
    mp.spawn(lambda i: 1 / 0)
except mp.ProcessRaisedException as error:
    print(str(error).splitlines()[-1])
    print(f'File "{work.__code__.co_filename}"' in str(error))
"""
PRINTED = "[(0, 0, [1]), (1, 1, [1])]\n[[2.0, 2.0]]\n[4, 9]\n5\nZeroDivisionError: division by zero\nTrue\n"


def run(program, *how, **more):
    return subprocess.run([sys.executable, *how], capture_output=True, text=True, timeout=200, **more)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_functions_and_classes_of_a_session(method):
    pytest.importorskip("cloudpickle")
    program = CELLS.replace("METHOD", method)
    # as text on a pipe, and as an argument: two main modules that no process can import
    done = run(program, "-", input=program) if method == "spawn" else run(program, "-c", program)
    assert done.stdout == PRINTED, done.stderr
    assert done.stderr == ""


def test_without_cloudpickle_a_sentence_says_so():
    program = """
import sys
sys.modules["cloudpickle"] = None
import vistorch.multiprocessing as mp
try:
    mp.spawn(print)
except ImportError as error:
    print(error)
"""
    done = run(program, "-c", program)
    assert done.stdout.startswith("what is defined in a notebook or an interactive session travels"), (
        done.stderr
    )
