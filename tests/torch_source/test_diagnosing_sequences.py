"""Rules on sequences and sums, over the real torch: the same lines as over our own engine."""

import pytest

from tests.diagnose import test_sequence_rules as sequences
from tests.diagnose import test_sums_rules as sums
from tests.diagnose.marked import HEAD, guilty

from .test_diagnosing import diagnosed

ALL_STEPS = sequences.PACKED.replace("for s in batch])", "for s in x])")


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("reads padding", sequences.STATE),
        ("reads padding", sequences.GATED),
        ("reads padding", ALL_STEPS),
        ("never reset", sums.NET + sums.PLAIN),
        ("set, not added", sums.NET + sums.LAST),
        ("keeps worst", sums.NET + sums.STOPS),
    ],
)
def test_the_line_is_found(rule, text):
    diagnosis = diagnosed(rule, HEAD + text)
    lines = [line.line for one in diagnosis.findings() if one.rule == rule for line in one.named]
    assert guilty(text) & set(lines) and not diagnosis.failures


@pytest.mark.parametrize("text", [sequences.TURNED, sequences.SUM, sequences.PACKED, *sequences.READ])
def test_a_healthy_program_is_not_accused(text):
    diagnosis = diagnosed("healthy", HEAD + text)
    rules = {one.rule for one in diagnosis.findings()}
    assert not rules & {"sees ahead", "reads padding"} and not diagnosis.failures


def test_a_decoder_without_a_mask_is_named():
    text = sequences.TURNED.replace(", tgt_mask=early(t.size(1))", "")
    assert "sees ahead" in {one.rule for one in diagnosed("ahead", HEAD + text).findings()}
