"""Programs that look as if something were wrong, and their faulty siblings, over the real PyTorch."""

import pytest

from tests.diagnose import test_modes_rules as modes
from tests.diagnose import test_padding_rules as padding
from tests.diagnose import test_steps_rules as steps
from tests.diagnose.marked import HEAD, guilty

from .test_diagnosing import diagnosed

FAULTY = {
    **{name: (HEAD + text, rule, guilty(text)) for name, (text, rule) in steps.FAULTY.items()},
    **{name: (HEAD + text, "trains in eval", guilty(text)) for name, text in modes.FAULTY.items()},
    **{name: (HEAD + text, "draws in evaluation", guilty(text)) for name, text in modes.DRAWS.items()},
    **{
        name: (HEAD + text, "sees ahead", guilty(text))
        for name, text in (
            ("both ways", padding.BOTH),
            ("added", padding.ADDED),
            ("decoder", padding.DECODES),
        )
    },
}
TUNED = (
    "fine-tuned with kept statistics, new optimizer",
    "loaded, measured, tuned in evaluation mode",
    "frozen trunk in evaluation mode, loaded",
)
HEALTHY = {
    **steps.HEALTHY,
    **{name: modes.HEALTHY[name] for name in TUNED},
    **modes.FOLLOWS,
    "sorts": padding.SORTS,
    "reads": padding.READS,
    "tags": padding.TAGGED,
}


@pytest.mark.parametrize("name", FAULTY)
def test_its_line_is_named(name):
    text, rule, lines = FAULTY[name]
    found = {one.rule: [line.line for line in one.named] for one in diagnosed(name, text).findings()}
    assert any(abs(line - mark) <= 2 for line in found.get(rule, []) for mark in lines), found


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_program_is_not_accused(name):
    text = HEALTHY[name]
    diagnosis = diagnosed(name, HEAD + text)
    assert [one.rule for one in diagnosis.findings()] == [] and not diagnosis.failures
