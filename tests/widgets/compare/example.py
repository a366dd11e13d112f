"""Records of comparisons: two runs that differ in one layer, two that are equal."""

from tests.widgets import findings

EXAMPLES = {
    "different": findings.compared,
    "equal": lambda: findings.compare(findings.recording("one", 0.1), findings.recording("two", 0.1)),
}
