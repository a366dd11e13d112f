"""Run PyTorch's operator database over vistorch and print the table.

`python -m tests.conformance [--op NAME] [--column COLUMN] [--samples N] [--workers 2] [--lines N]`
"""

import argparse
import collections
import datetime
import multiprocessing
import re
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import torch

from tests.conformance.columns import COLUMNS, SAMPLES, check
from tests.conformance.database import entries
from tests.conformance.opinion import DIFFERS

PAGE = """# Held against PyTorch's own operator database

PyTorch tests its operators by a database of samples. Its {entries} public entries are run on both libraries, with at
most {samples} samples of an entry in a type, by `python -m tests.conformance --page docs/conformance.md`, which writes
this page.

{table}

An entry counts as right in a column when all its samples are. *Found*: the name is there. *Forward*: values, types and
shapes, in double precision. *Gradients*, *second order*, *forward mode*: of weighted results, real and complex. *Vmap*:
a batch of every tensor, where PyTorch's `vmap` takes it. *Errors*: the exception's type and sentence. *Strides*: the
order in memory. *Other dtypes*: forward in every other type. A result is right if it is PyTorch's, or PyTorch's in
double precision, rounded, or, of a batch, PyTorch's of each sample; of equal elements any may be chosen. *Documented*
entries differ on purpose, by [a sentence with a proof](differences.md).

What is not right:

| entry | column | what is given |
| :-- | :-- | :-- |
{wrong}

Of {date}, with PyTorch {torch} and numpy {numpy}.
"""


def one(work: tuple[str, str, int]) -> tuple[str, str, int, list[str]]:
    """One entry and column."""
    name, column, samples = work
    warnings.simplefilter("ignore")
    try:
        tries, wrong = check(entries()[name], column, samples)
    except Exception as fault:  # what PyTorch's own samples raise is a line of the report
        tries, wrong = 1, [f"the check itself: {type(fault).__name__}: {str(fault)[:200]}"]
    return name, column, tries, wrong


def kind(message: str) -> str:
    """The class of a failure: its message without the call and without numbers."""
    text = message.rsplit("): ", 1)[-1]
    return re.sub(r"-?\d+(\.\d+)?(e[-+]\d+)?j?", "#", text)[:90]


def main(words: list[str] | None = None) -> int:
    """The command line; exit status 1 where an entry failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("--op", action="append", help="entries of this name; all by default")
    parser.add_argument("--column", action="append", choices=COLUMNS)
    parser.add_argument("--samples", type=int, default=SAMPLES, help="of one entry in one type")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--lines", type=int, default=3, help="of each entry that failed")
    parser.add_argument("--page", type=Path, help="write the table and what is missing to this page")
    options = parser.parse_args(words)
    begun = time.perf_counter()
    names = [n for n in entries() if not options.op or n in options.op or n.split(":")[0] in options.op]
    if not names:
        parser.error(f"no entry is called {', '.join(options.op)}")
    columns: list[str] = options.column or list(COLUMNS)
    work = [(name, column, options.samples) for name in names for column in columns]
    if options.workers > 1 and len(work) > 1:
        with multiprocessing.get_context("fork").Pool(options.workers) as pool:
            found = list(pool.imap_unordered(one, work, chunksize=4))
    else:
        found = [one(item) for item in work]
    found.sort(key=lambda row: (COLUMNS.index(row[1]), row[0]))
    report(found, columns, options.lines)
    if options.page:
        options.page.write_text(page(found, columns, options.samples))
    print(f"{len(names)} entries, {sum(r[2] for r in found):,} calls, {time.perf_counter() - begun:.0f} s")
    return int(any(wrong for *_, wrong in found))


def report(found: list, columns: list[str], lines: int) -> None:
    """The failing entries by column, the classes of failure, and the table."""
    for column in columns:
        kinds: collections.Counter = collections.Counter()
        for name, where, tries, wrong in found:
            if where == column and wrong:
                print(f"{column:12} {name}: {len(wrong)} of {tries}")
                for message in wrong[:lines]:
                    print(f"             {message[:300]}")
                kinds.update({kind(message) for message in wrong})
        for what, count in kinds.most_common(15):
            print(f"  {column} class: {count:4} {what}")
    print(table(found, columns))


def table(found: list, columns: list[str]) -> str:
    """The table of columns."""
    lines = [
        "| column | entries | right | documented | % | calls | wrong |",
        "| :-- | --: | --: | --: | --: | --: | --: |",
    ]
    for column in columns:
        asked = [row for row in found if row[1] == column and row[2]]
        right = sum(not row[3] for row in asked)
        calls, wrong = sum(row[2] for row in asked), sum(len(row[3]) for row in asked)
        known = sum(bool(row[3]) and (column, row[0]) in DIFFERS for row in asked)
        share = 100 * (right + known) / max(len(asked), 1)
        lines.append(f"| {column} | {len(asked)} | {right} | {known} | {share:.1f} | {calls:,} | {wrong:,} |")
    return "\n".join(lines)


def page(found: list, columns: list[str], samples: int) -> str:
    """The page of the documentation: the table, and the entries that are not right."""
    wrong = [
        f"| {name} | {column} | {text[0].rsplit('): ', 1)[-1][:110].replace('|', ' ')} |"
        for name, column, _, text in found
        if text and (column, name) not in DIFFERS
    ]
    return PAGE.format(
        table=table(found, columns),
        wrong="\n".join(wrong),
        samples=samples,
        date=datetime.date.today().isoformat(),
        torch=torch.__version__.split("+")[0],
        numpy=np.__version__,
        entries=len({name for name, *_ in found}),
    )


if __name__ == "__main__":
    sys.exit(main())
