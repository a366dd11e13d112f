"""The table: one line a row, on the screen while it is measured and as Markdown at the end."""

import os
import platform

COLUMNS = ("row", "torch us", "{} us", "ratio", "quartiles", "torch MiB", "{} MiB", "budget", "")
WIDTHS = (48, 11, 12, 7, 12, 9, 12, 7, 0)


def head(other):
    """Name the columns."""
    return [column.format(other) for column in COLUMNS]


def cells(result):
    """Write one result as the texts of its cells; what was not measured stays empty."""

    def number(value, form):
        return "" if value is None else format(value, form)

    spread = "" if result.low is None else f"{result.low:.2f} - {result.high:.2f}"
    return [
        result.key,
        number(result.torch_us, ",.2f"),
        number(result.other_us, ",.2f"),
        number(result.ratio, ".2f"),
        spread,
        number(result.torch_mib, ".1f"),
        number(result.other_mib, ".1f"),
        result.budget,
        result.verdict,
    ]


def line(texts):
    """Lay out one line for the screen: the name to the left, figures to the right."""
    parts = [
        text.ljust(width) if i in (0, len(WIDTHS) - 1) else text.rjust(width)
        for i, (text, width) in enumerate(zip(texts, WIDTHS, strict=True))
    ]
    return "  ".join(parts).rstrip()


def markdown(results, other, versions, pace):
    """Write the whole run as a Markdown section that says on what it ran."""
    rules = [":--", *["--:"] * (len(COLUMNS) - 2), ":--"]
    table = [head(other), rules, *([text.replace("|", "\\|") for text in cells(r)] for r in results)]
    body = "\n".join("| " + " | ".join(texts) + " |" for texts in table)
    return f"{machine(versions, pace)}\n\n{body}\n\n{summary(results)}\n"


def machine(versions, pace):
    """Say what ran where, without the name of the machine."""
    return (
        f"{processor()}, {os.cpu_count()} cores, one thread used; {platform.system()}, "
        f"Python {platform.python_version()}, {', '.join(versions)}; "
        f"{pace.rounds} rounds of {pace.seconds * 1000:g} ms on {pace.pairs} pair(s) of processes."
    )


def processor():
    """Return the model of the processor where the system gives it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for text in file:
                if text.startswith("model name"):
                    return text.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def summary(results):
    """Count in one sentence what a reader should not overlook."""
    over = sum(result.verdict.startswith("OVER") for result in results)
    absent = sum(result.verdict.startswith("not run") for result in results)
    return f"{len(results)} rows: {over} over budget, {absent} not run."
