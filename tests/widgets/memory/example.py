"""Records of memory over time: two steps of a network, and a cell that keeps nothing."""

from tests.widgets import findings
from vistorch.debug.timeline import Timeline


def nothing():
    """A cell in which nothing is kept."""
    with Timeline() as seen:
        pass
    return seen.record()


EXAMPLES = {"steps": findings.memory, "nothing": nothing}
