"""Run the campaigns and print the table: `python -m tests.campaigns [name ...] [--share 0.1] [--seed 0]`."""

import argparse
import contextlib
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from . import arguments, interrupts, memory, pages, processes
from .result import Result

# name, what is tried, the campaign, its full number
CAMPAIGNS: dict[str, tuple[str, Callable[..., Result], int]] = {
    "backward": ("interrupts in a backward pass", interrupts.backward, 200),
    "training": ("interrupts in a training step", interrupts.training, 200),
    "workers": ("DataLoader workers killed, ten stages", processes.workers, 40),
    "servers": ("server of workers or resource tracker killed", processes.servers, 16),
    "loaders": ("interrupts in a training with workers", processes.interrupts, 100),
    "messages": ("messages of any shape to each live view", pages.messages, 500),
    "names": ("scripts in names, every view in a browser", pages.names, len(pages.PAYLOADS)),
    "displays": ("displays in one process", memory.displays, 2000),
    "runs": ("watched runs in one process", memory.runs, 200),
    "arguments": ("bad arguments", arguments.arguments, 6000),
}


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """A browser, as the tests of the pages start it."""
    from playwright.sync_api import sync_playwright

    from tests.ui import browsers
    from tests.ui.conftest import FLAGS

    path = browsers.find()
    if path is None:
        raise SystemExit("the campaign of names needs Chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


def run(name: str, share: float = 1.0, seed: int = 0) -> Result:
    """Run one campaign with a share of its tries."""
    _, campaign, full = CAMPAIGNS[name]
    tries = max(1, round(full * share))
    if name != "names":
        return campaign(tries, seed)
    with chromium() as browser:
        return campaign(tries, seed, browser)


def main(words: list[str] | None = None) -> int:
    """The command line; exit status 1 where a try failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"which: {', '.join(CAMPAIGNS)}; all by default"
    )
    parser.add_argument("--share", type=float, default=1.0, help="of the full number of tries")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(words)
    unknown = [name for name in options.names if name not in CAMPAIGNS]
    if unknown:
        parser.error(f"no campaign is called {', '.join(unknown)}; there are: {', '.join(CAMPAIGNS)}")
    bad = 0
    print("| what | tries | failures | seconds | |\n| :-- | --: | --: | --: | :-- |", flush=True)
    for name in options.names or CAMPAIGNS:
        begun = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = run(name, options.share, options.seed)
        bad += bool(result.failures)
        seconds = time.perf_counter() - begun
        seen = "; ".join(result.notes)
        print(
            f"| {CAMPAIGNS[name][0]} | {result.tries:,} | {len(result.failures)} | {seconds:.0f} | {seen} |",
            flush=True,
        )
        for wrong in result.failures[:10]:
            print(f"    {name}: {wrong}", file=sys.stderr, flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
