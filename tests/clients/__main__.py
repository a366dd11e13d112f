"""Run the clients and write the table: `python -m tests.clients [name ...] [--write]`."""

import argparse
import sys

from . import install, page
from .compare import PROGRAMS, outcome, run
from .records import CLIENTS


def main(words: list[str] | None = None) -> int:
    """The command line; exit status 1 where a client fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.clients", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help="of a library or a program; all by default")
    parser.add_argument("--write", action="store_true", help="write docs/libraries.md, where all were run")
    options = parser.parse_args(words)
    known = {name for client in CLIENTS for name in (client.name, client.program)}
    if unknown := [name for name in options.names if name not in known]:
        parser.error(f"no client is called {', '.join(unknown)}; there are: {', '.join(sorted(known))}")
    if sentence := install.install():
        print(f"Skipped: {sentence}")
        return 0
    rows, bad = [], 0
    for client in CLIENTS:
        if options.names and not {client.name, client.program} & set(options.names):
            continue
        program = PROGRAMS / f"{client.program}.py"
        found = outcome(run(program, ours=False), run(program, ours=True), client.close)
        rows.append(page.row(client, found))
        print(rows[-1], flush=True)
        for wrong in found.wrong:
            print(f"    {client.program}: {wrong}", file=sys.stderr, flush=True)
        bad += bool(found.wrong)
    if options.write and not options.names:
        page.write(rows)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
