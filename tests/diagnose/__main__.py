"""`python -m tests.diagnose`: every program, and the table of causes found, places found and healthy ones accused.

`python -m tests.diagnose NAME` shows what is said of the programs whose name holds NAME.
"""

from __future__ import annotations

import sys

from .bases import BASES
from .faults import FAULTS
from .harness import judge, run
from .healthy import HEALTHY


def main(words: list[str]) -> int:
    """Run them."""
    asked = [w for w in words if not w.startswith("-")]
    rows: dict[str, list] = {}
    clean = [(f"base {name}", text) for name, text in BASES.items()] + [
        (f"healthy {n}", t) for n, t in HEALTHY.items()
    ]
    accused = []
    if asked:
        clean = [(n, t) for n, t in clean if any(w in n for w in asked)]
    for name, text in clean:
        said = run(name, text)
        if said.findings or said.error or said.failures:
            accused.append(name)
            print(
                f"ACCUSED {name}: {[f'{o.rule}: {o.text}' for o in said.findings]} {said.error} {said.failures}",
                flush=True,
            )
    for i, fault in enumerate(FAULTS):
        name = f"{i} {fault.base}: {fault.cause}"
        if asked and not any(w in name for w in asked):
            continue
        said = run(name, fault.faulty)
        cause, place = judge(said, fault.rules, fault.line)
        rows.setdefault(fault.cause, []).append((cause, place))
        if not place or asked:
            print(f"{'ok  ' if place else 'MISS'} {name} (line {fault.line}) {said.error} {said.failures}")
            for one in said.findings[:4]:
                print(f"       {one.rule} [{one.where}] {one.text}")
            sys.stdout.flush()
    print(f"\n{'cause':<40} {'n':>3} {'cause':>6} {'place':>6}")
    for cause, found in rows.items():
        print(f"{cause:<40} {len(found):>3} {sum(c for c, _ in found):>6} {sum(p for _, p in found):>6}")
    every = [one for found in rows.values() for one in found]
    if every:
        share = sum(p for _, p in every) / len(every)
        bad = len(accused) / max(1, len(clean))
        print(
            f"{len(every)} faulty: cause {sum(c for c, _ in every) / len(every):.1%}, place {share:.1%};"
            f" {len(accused)} of {len(clean)} clean programs accused; figure {100 * share * (1 - bad):.1f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
