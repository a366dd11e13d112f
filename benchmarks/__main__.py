"""The command line of the benchmarks: `python -m benchmarks [--family NAME] [--quick] [--markdown FILE]`."""

import argparse
import itertools
import sys
from pathlib import Path

from benchmarks import columns, harness, imports, report, rows, starts

IMPORTS = "imports"


def arguments(argv):
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Times against torch, side by side."
    )
    parser.add_argument("--family", action="append", choices=[*rows.FAMILIES, IMPORTS], help="only this one")
    parser.add_argument("--row", default="", metavar="TEXT", help="only rows whose name contains TEXT")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds: a look, not a result")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the table here")
    parser.add_argument(
        "--against", default="vistorch", metavar="LIB", help="the library to hold against torch"
    )
    parser.add_argument(
        "--columns",
        action="store_true",
        help="with one thread and with all, plain and fast, beside the floors",
    )
    parser.add_argument("--starts", action="store_true", help="the first call and the peak of memory")
    parser.add_argument(
        "--threads", type=int, metavar="N", help="what `all` means with --columns; how many with --starts"
    )
    return parser.parse_args(argv)


class Duel:
    """The pairs of workers, started anew when a row has ended one of them."""

    def __init__(self, other, pace):
        self.names = (harness.REFERENCE, other)
        self.pace = pace
        self.pairs = []
        self.versions = []

    def start(self):
        """Start all of them and learn the versions."""
        self.pairs = [tuple(map(harness.Worker, self.names)) for _ in range(self.pace.pairs)]
        self.versions = [f"{w.library} {w.ask(do='hello')['version']}" for w in self.pairs[0]]

    def run(self, row):
        """Compare one row; a crash is this row's result, not the end of the run."""
        try:
            return harness.compare(row, self.pairs, self.pace)
        except harness.WorkerDied as error:
            self.stop()
            self.start()
            return harness.Result(row.key, verdict=f"not run: {error}")

    def stop(self):
        """End all of them."""
        for worker in itertools.chain.from_iterable(self.pairs):
            worker.__exit__()


def main(argv=None):
    """Run the chosen rows and print the table."""
    args = arguments(argv)
    pace = harness.QUICK if args.quick else harness.FULL
    families = args.family or [*rows.FAMILIES, IMPORTS]
    chosen = [row for row in rows.load([f for f in families if f != IMPORTS]) if args.row in row.key]
    if args.columns or args.starts:
        text = (
            starts.run(chosen, args.threads or 1) if args.starts else columns.run(chosen, pace, args.threads)
        )
        if args.markdown:
            args.markdown.write_text(text, encoding="utf-8")
        return 0
    results = []

    def show(result):
        results.append(result)
        print(report.line(report.cells(result)), flush=True)

    duel = Duel(args.against, pace)
    try:
        try:
            duel.start()
        except harness.WorkerDied as error:
            return f"{error}: can both libraries be imported here?"
        print(report.machine(duel.versions, pace))
        print(report.line(report.head(args.against)))
        for row in chosen:
            show(duel.run(row))
    finally:
        duel.stop()
    if IMPORTS in families and args.row in f"{IMPORTS}/import {args.against}":
        show(imports.compare(args.against, max(3, pace.rounds // 3)))
    print(report.summary(results))
    if args.markdown:
        text = report.markdown(results, args.against, duel.versions, pace)
        args.markdown.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
