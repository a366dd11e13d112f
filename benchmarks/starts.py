"""What a row costs before it is warm: its first call, and its peak of memory: `python -m benchmarks --starts`.

Both are measured in processes of their own: a primitive that was made once, and a peak once reached, hide all later
ones. Python's bytecode is cached, as that of an installed package is: an environment that forbids it would count the
compilation of each module that a first call imports.
Invariant: the first call is the first one of its process that computes anything but the row's inputs.
"""

import tempfile

from benchmarks import columns, harness

SIDES = (("torch", {}), ("vistorch", columns.PLAIN), ("vistorch", columns.FAST))
HEAD = ("row", "torch first/warm", "plain", "fast", "torch MiB", "plain / torch", "fast / torch")


def fresh(library, environment, threads, **request):
    """The answer of a process that was started for this one question."""
    with harness.Worker(library, threads, environment) as worker:
        return worker.ask(**request)


def measure(row, threads, cache, turns=3):
    """For each side: how many times as long as a warm call the first one takes, and the peak in MiB; medians.

    Args:
        row: the row.
        threads: how many a process may use.
        cache: the folder of the bytecode.
        turns: how many processes.
    """
    found = []
    for library, kernels in SIDES:
        environment = {**kernels, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": cache}
        fresh(library, environment, threads, do="start", row=row.key)  # fills the cache
        starts = [fresh(library, environment, threads, do="start", row=row.key) for _ in range(turns)]
        peaks = [fresh(library, environment, threads, do="memory", row=row.key) for _ in range(turns)]
        for reply in starts + peaks:
            if "error" in reply:
                raise RuntimeError(f"{row.key} on {library}: {reply['error']}")
        found.append(
            [sorted(r[key] for r in got)[turns // 2] for key, got in (("times", starts), ("mib", peaks))]
        )
    return found


def run(rows, threads=1):
    """Measure and print the rows; returns them as Markdown."""
    lines = [f"| {' | '.join(HEAD)} |", "| :-- |" + " --: |" * (len(HEAD) - 1)]
    print("  ".join(HEAD))
    with tempfile.TemporaryDirectory() as cache:
        for row in rows:
            if row.base is not None or row.waits:
                continue
            found = measure(row, threads, cache)
            peak = found[0][1]
            texts = [row.key, *[f"{times:.1f}" for times, _ in found], f"{peak:.1f}"]
            texts += [f"{mib / peak:.2f}" if peak > 0.5 else "" for _, mib in found[1:]]
            lines.append(f"| {' | '.join(texts)} |")
            print("  ".join(texts), flush=True)
    return "\n".join(lines) + "\n"
