"""`python -m tests.diagnose`: every program, and the table of causes found, places found and healthy ones accused.

`python -m tests.diagnose NAME` shows what is said of the programs whose name holds NAME.
"""

from __future__ import annotations

import sys

from .harness import judge, run
from .parts import PARTS, Part


def shown(part: Part, asked: list[str]) -> None:
    """Run a part of the bench, and print what is missed and what is accused."""
    clean = [(n, t) for n, t in part.healthy.items() if not asked or any(w in n for w in asked)]
    accused = 0
    for name, text in clean:
        said = run(name, text)
        if said.findings or said.error or said.failures:
            accused += 1
            print(
                f"ACCUSED {name}: {[f'{o.rule}: {o.text}' for o in said.findings]} {said.error} {said.failures}",
                flush=True,
            )
    rows: dict[str, list] = {}
    for one in part.faulty:
        if asked and not any(w in one.name for w in asked):
            continue
        said = run(one.name, one.text)
        cause, place = judge(said, one.rules, one.lines)
        rows.setdefault(one.cause, []).append((cause, place))
        if not place or asked:
            print(
                f"{'ok  ' if place else 'MISS'} {one.name} (lines {one.lines}) {said.error} {said.failures}"
            )
            for o in said.findings[:4]:
                print(f"       {o.rule} [{o.where}] {o.text}")
            sys.stdout.flush()
    every = [one for found in rows.values() for one in found]
    if not every:
        return
    print(f"\n{'cause':<50} {'n':>3} {'cause':>6} {'place':>6}")
    for cause, found in rows.items():
        print(f"{cause:<50} {len(found):>3} {sum(c for c, _ in found):>6} {sum(p for _, p in found):>6}")
    share = sum(p for _, p in every) / len(every)
    bad = accused / max(1, len(clean))
    print(
        f"{part.name}: {len(every)} faulty: cause {sum(c for c, _ in every) / len(every):.1%}, place {share:.1%};"
        f" {accused} of {len(clean)} clean programs accused; figure {100 * share * (1 - bad):.1f}\n"
    )


def main(words: list[str]) -> int:
    """Run them."""
    for part in PARTS:
        shown(part, [w for w in words if not w.startswith("-")])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
