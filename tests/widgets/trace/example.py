"""Records of traces: a NaN behind a mask, a run that diverges, an exception, nothing found, markup in names."""

from tests.widgets import findings

EXAMPLES = {
    "entropy": findings.entropy,
    "diverging": findings.diverging,
    "failed": findings.failed,
    "clean": findings.clean,
    "evil": findings.evil,
}
