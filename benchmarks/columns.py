"""Rows with one thread and with all, with the plain kernels and with oneDNN's: `python -m benchmarks --columns`.

Beside each row stand its two floors: the bytes its ops read and write over the machine's bandwidth, and the products
it computes over the machine's rate of them, both measured in the same run with as many threads. No library passes
below the larger one of them without doing less.
Invariant: a ratio is made of chunks that ran one right after the other, and of rounds in which other programs left the
machine alone, where there were such; else the row is marked.
"""

import os
import statistics
from dataclasses import dataclass, field

from benchmarks import harness

PLAIN, FAST = {"VISTORCH_ONEDNN": "off"}, {}
CALM = 0.12  # of the machine that others may use
HEAD = ("row", "torch", "plain", "fast", "torch", "plain", "fast", "bytes", "flops", "others")
WIDTHS = (34, 11, 7, 7, 11, 7, 7, 9, 9, 7)


def all_threads():
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass
class Setting:
    """Three processes with one number of threads: torch, vistorch plain, vistorch fast."""

    threads: int
    workers: list = field(default_factory=list)
    rates: dict = field(default_factory=dict)

    def start(self):
        """Start them and measure what the machine can do."""
        self.workers = [
            harness.Worker(harness.REFERENCE, self.threads),
            harness.Worker("vistorch", self.threads, PLAIN),
            harness.Worker("vistorch", self.threads, FAST),
        ]
        harness.share_a_core([self.workers])
        self.rates = self.workers[0].ask(do="rates")

    def stop(self):
        """End them."""
        for worker in self.workers:
            worker.__exit__()


def jiffies():
    """(busy, all) hundredths of a second of all cores, or None where the system does not say."""
    try:
        with open("/proc/stat", encoding="ascii") as file:
            found = [int(text) for text in file.readline().split()[1:]]
    except OSError:
        return None
    return sum(found) - found[3] - found[4], sum(found)


def spent(workers):
    """The same of these processes alone."""
    total = 0
    for worker in workers:
        try:
            with open(f"/proc/{worker.process.pid}/stat", encoding="ascii") as file:
                total += sum(map(int, file.read().rpartition(")")[2].split()[11:13]))
        except OSError:
            return 0
    return total


def others(workers, run):
    """What `run()` gives, and the share of the machine that other programs had meanwhile."""
    before, own = jiffies(), spent(workers)
    result = run()
    after = jiffies()
    if before is None or after is None or after[1] == before[1]:
        return result, 0.0
    return result, max(0.0, after[0] - before[0] - spent(workers) + own) / (after[1] - before[1])


def measure(row, setting, pace):
    """(torch's time, plain ratio, fast ratio, share of others, error) of a row."""
    rounds = []
    for _ in range(pace.rounds):

        def once():
            return [w.ask(do="time", row=row.key, seconds=pace.seconds) for w in setting.workers]

        replies, busy = others(setting.workers, once)
        for reply in replies:
            if "error" in reply:
                return None, None, None, busy, reply["error"]
        rounds.append(([reply["us"] for reply in replies], busy))
    calm = [times for times, busy in rounds if busy < CALM] or [times for times, _ in rounds]
    reference = statistics.median(times[0] for times in calm)
    ratios = [statistics.median(times[i] / times[0] for times in calm) for i in (1, 2)]
    return reference, *ratios, min(busy for _, busy in rounds), ""


def line(texts):
    """Lay out one line."""
    return "  ".join(
        text.rjust(width) if i else text.ljust(width)
        for i, (text, width) in enumerate(zip(texts, WIDTHS, strict=True))
    ).rstrip()


def cells(row, settings, found, work):
    """The texts of one row; times in microseconds, floors those of the last setting."""
    texts = [row.key]
    for reference, plain, fast, _, _ in found:
        texts += ["" if reference is None else f"{reference:,.1f}"]
        texts += ["" if ratio is None else f"{ratio:.2f}" for ratio in (plain, fast)]
    rates = settings[-1].rates
    for name in ("bytes", "flops"):
        texts.append(f"{work[name] / rates[name] * 1e6:,.1f}" if name in work else "")
    busy = max(share for *_, share, _ in found)
    texts.append(f"{busy:.2f}{'!' if busy >= CALM else ''}")
    return texts


def mean(values):
    """The geometric mean, as text."""
    return f"{statistics.geometric_mean(values):.2f}" if values else ""


def markdown(settings, table):
    """The rows as a table of Markdown.

    Args:
        settings: the two settings.
        table: the texts of each row, of the geometric mean last.
    """
    one, many = (f"{setting.threads} thread{'s' if setting.threads > 1 else ''}" for setting in settings)
    head = ["row", "torch us", f"plain, {one}", f"fast, {one}", "torch us", f"plain, {many}", f"fast, {many}"]
    head += ["bytes us", "flops us", "others"]
    rates = [
        f"{s.rates['flops'] / 1e9:,.0f} GFlop/s and {s.rates['bytes'] / 1e9:,.1f} GB/s with {name}"
        for s, name in zip(settings, (one, many), strict=True)
    ]
    lines = [f"Rates of the machine: {', '.join(rates)}.", "", f"| {' | '.join(head)} |"]
    lines.append("| :-- |" + " --: |" * (len(head) - 1))
    lines += [f"| {' | '.join(texts)} |" for texts in table]
    return "\n".join(lines) + "\n"


def run(rows, pace, threads=None):
    """Measure and print the rows; returns them as Markdown."""
    settings = [Setting(1), Setting(threads or all_threads())]
    table, ratios = [], [[] for _ in range(4)]

    def show(texts):
        table.append(texts)
        print(line(texts), flush=True)

    try:
        for setting in settings:
            setting.start()
        for setting in settings:
            gemm, moved = setting.rates["flops"] / 1e9, setting.rates["bytes"] / 1e9
            print(f"{setting.threads} thread(s): {gemm:,.0f} GFlop/s of products, {moved:,.1f} GB/s copied")
        print(line(HEAD))
        for row in rows:
            if row.base is not None or row.waits:
                continue
            found = [measure(row, setting, pace) for setting in settings]
            work = settings[0].workers[1].ask(do="floors", row=row.key)
            show(cells(row, settings, found, work))
            for i, (_, plain, fast, _, _) in enumerate(found):
                for j, ratio in enumerate((plain, fast)):
                    if ratio is not None:
                        ratios[2 * i + j].append(ratio)
        a, b, c, d = map(mean, ratios)
        show(["geometric mean", "", a, b, "", c, d, "", "", ""])
    finally:
        for setting in settings:
            setting.stop()
    print("! others had more than 12 % of the machine in every round: no result")
    return markdown(settings, table)
