"""The process that runs rows for one library: `python -m benchmarks.worker LIB`.

It reads one JSON request a line and answers with one JSON line; the harness alone decides whose turn it is.
Invariant: only answers reach the real standard output, whatever a library prints.
"""

import gc
import importlib
import json
import os
import sys
import time
from itertools import repeat

from benchmarks import floors, rows

MIB = 2**20
MEMORY_RUNS = 3
WARM_CALLS = 30
WARM_SECONDS = 0.4
LEAST_CALLS = 3


class Bench:
    """One library and the row it has prepared last."""

    def __init__(self, library):
        self.lib = importlib.import_module(library)
        self.threads = int(os.environ.get("OMP_NUM_THREADS", "1"))
        if hasattr(self.lib, "set_num_threads"):
            self.lib.set_num_threads(self.threads)
        self.key = None
        self.sides = {}
        self.call, self.waits = None, False

    def hello(self):
        """Say which version answers here."""
        return {"version": getattr(self.lib, "__version__", "unknown")}

    def prepare(self, key, side="row"):
        """Drop the row before and build this one (or its base), from the same seed in every process."""
        if key != self.key:
            self.sides, self.call, self.key = {}, None, key
            gc.collect()
        if hasattr(self.lib, "manual_seed"):
            self.lib.manual_seed(0)
        found = rows.ROWS[key]
        self.waits = found.waits
        self.call = (found.base if side == "base" else found.prepare)(self.lib)

    def time(self, key, seconds, side="row"):
        """Run the row (or its base) for about `seconds` and answer with the microseconds of one call."""
        if key != self.key or side not in self.sides:
            self.prepare(key, side)
            self.sides[side] = self.call, self.calibrate(seconds)
        self.call, number = self.sides[side]
        self.chunk(max(LEAST_CALLS, number // 5))  # the other side has had the caches meanwhile
        return {"us": self.chunk(number) / number * 1e6}

    def calibrate(self, seconds):
        """Find how many calls fill `seconds`.

        The calls before do not count: the first loads what it needs, the next twenty or so still get memory
        that the system has to find first, which made a large row 30 times slower than it is later.
        """
        warm = 0.0
        for _ in range(WARM_CALLS):
            warm += self.chunk(1)
            if warm > WARM_SECONDS:
                break
        number = 1
        while True:
            elapsed = self.chunk(number)
            if elapsed >= seconds / 2:
                return max(LEAST_CALLS, round(number * seconds / elapsed))
            number *= 2

    def start(self, key):
        """Answer with how many times as long as a warm call the first one takes, by the wall's clock."""
        self.prepare(key)
        times = []
        for _ in range(12):
            before = time.perf_counter()
            self.call()
            times.append(time.perf_counter() - before)
        return {"times": times[0] / sorted(times[2:])[5]}

    def chunk(self, number):
        """Time `number` calls in a row, with the garbage collector on as it is for a user.

        It is the processor's time of this process, all threads together: what other programs took meanwhile
        does not count, and a library that used a second thread in secret would pay for it. Only a row that waits for
        another process, or a run with several threads, is timed by the wall's clock.
        """
        call = self.call
        clock = time.perf_counter if self.waits or self.threads > 1 else time.process_time
        start = clock()
        for _ in repeat(None, number):
            call()
        return clock() - start

    def memory(self, key):
        """Answer with the peak of memory that running the row adds to what its inputs hold."""
        # The first backward starts threads and loads kernels, those of products too: that belongs to the library.
        a = self.lib.ones(256, 256).requires_grad_(True)
        (a @ a).sum().backward()
        del a
        self.prepare(key)
        reset_peak()
        before = peak()
        for _ in range(MEMORY_RUNS):
            self.call()
        return {"mib": (peak() - before) / MIB}


def peak():
    """Return the largest resident size of this process so far, in bytes."""
    try:
        # ru_maxrss would start from the size of the process that started this one.
        with open("/proc/self/status") as file:
            return 1024 * next(int(line.split()[1]) for line in file if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        pass
    import resource  # not on Windows, where only this figure is missing

    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else size * 1024


def reset_peak():
    """Bring the peak down to the present size where the system can: an import has a peak of its own."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


def answer(bench, request):
    """Carry out one request; a row this library cannot run is an answer too."""
    try:
        if request["do"] == "hello":
            return bench.hello()
        if request["do"] == "start":
            return bench.start(request["row"])
        if request["do"] == "memory":
            return bench.memory(request["row"])
        if request["do"] == "rates":
            return floors.rates(bench.lib)
        if request["do"] == "floors":
            bench.prepare(request["row"])
            bench.call()
            return floors.counted(bench.call)
        if request["do"] == "size":
            bench.prepare(request["row"], request["side"])
            return {"bytes": bench.call()}
        return bench.time(request["row"], request["seconds"], request.get("side", "row"))
    except Exception as error:
        lines = str(error).splitlines() or [""]
        return {"error": f"{type(error).__name__}: {lines[0]}"}


def main(library):
    """Serve requests until the input ends."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    rows.load()
    bench = Bench(library)
    for line in sys.stdin:
        print(json.dumps(answer(bench, json.loads(line))), file=replies, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
