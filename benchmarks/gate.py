"""Fails where vistorch has become much slower beside torch: `python -m benchmarks.gate`, a part of `make test`.

Each row has a limit well above what was measured, for machines differ; a row that is over it is timed again by new
processes, and fails only if it is over each time. Invariant: what is compared is processor time of paired chunks, one
thread each, on one and the same core, so that other programs on the machine decide nothing.
"""

import sys
from dataclasses import replace

from benchmarks import harness, rows

# By row: the limit with oneDNN, and with numpy's kernels; about 1.6 times what was measured (2026-11-22).
LIMITS = {
    "small/add forward": (1.25, 1.25),
    "small/add forward+backward": (1.3, 1.3),
    "small/view forward+backward": (1.5, 1.5),
    "chain/thirty_ops": (1.7, 1.7),
    "network/two_layer_step": (1.6, 1.6),
    "training/module_call": (1.2, 1.2),
    "training/adam_of_lenet": (1.1, 1.1),
    "training/lenet_batch_4": (1.4, 1.8),
    "training/lenet_batch_128": (1.3, 2.6),
    "training/gpt_two_blocks": (1.8, 2.4),
    "layers/gelu": (1.6, 7.0),
    "layers/layer_norm": (2.4, 4.5),
    "layers/max_pool": (0.9, 0.9),
    "reductions/sum": (1.7, 1.7),
    "reductions/argmax last dim": (0.5, 0.5),
    "indexing/read_rows_by_integers": (1.4, 1.4),
}
TIMES = 5  # that a row may be over before it fails
PACE = harness.Pace(pairs=1, rounds=5, seconds=0.005)


def measured(keys):
    """The ratio of each row, timed by a pair of processes of its own; None where it could not be."""
    ratios = {}
    with harness.Worker(harness.REFERENCE) as theirs, harness.Worker("vistorch") as ours:
        for row in rows.load(sorted({key.partition("/")[0] for key in keys})):
            if row.key in keys:
                ratios[row.key] = harness.compare(replace(row, memory=False), [(theirs, ours)], PACE).ratio
    return ratios


def main():
    """Time all rows, those that are over again in new processes; 1 if one of them stays over its limit."""
    from vistorch.backends import mkldnn

    column = 0 if mkldnn.is_available() else 1
    over = {key: limits[column] for key, limits in LIMITS.items()}
    for _ in range(TIMES):
        ratios = measured(over)
        for key, ratio in ratios.items():
            said = "not run" if ratio is None else f"{ratio:.2f}"
            keeps = ratio is not None and ratio <= over[key]
            print(f"{key:<36} {said:>8} of {over[key]:.2f}{'' if keeps else '   OVER'}", flush=True)
            if keeps:
                del over[key]
        if not over:
            break
    print(f"{len(LIMITS) - len(over)} rows within their limits, {len(over)} over")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
