"""What the page of a diagnosis is given beside its sentences: the cell of a line, the modules around a layer, boxes."""

import vistorch
from vistorch import nn
from vistorch.debug.diagnose import Diagnosis
from vistorch.debug.diagnose.finding import EXACT, WRONG, Finding
from vistorch.debug.diagnose.record import wire_of
from vistorch.debug.diagnose.tree import MOST, tree_of
from vistorch.debug.line_lookup import Line


def test_shapes_that_do_not_fit_travel_as_boxes():
    net = nn.Sequential(nn.Linear(4, 8), nn.Linear(6, 2))
    diagnosis = Diagnosis({"net": net})
    try:
        with diagnosis:
            net(vistorch.ones(3, 4))
    except RuntimeError:
        pass
    one = diagnosis.record().wire()["findings"][0]
    assert one["rule"] == "shapes" and one["shapes"]["drawing"]["parts"]
    assert [name for _, name, _, role in one["tree"] if role] == ["net[1]"]
    assert [given["bad"] for given in one["shapes"]["operands"]][:2] == [True, True]


def test_other_findings_have_no_boxes_and_a_line_of_a_cell_can_be_found():
    one = wire_of(Finding("x", WRONG, EXACT, "", Line("f", 3, "", "x = 1", 7)))
    assert (one["cell"], one["line"]) == (7, 3)
    net = nn.Linear(2, 1)
    opt = vistorch.optim.SGD(net.parameters(), lr=0.01)
    with Diagnosis({"opt": opt}) as diagnosis:
        for _ in range(6):
            net(vistorch.ones(8, 2)).mean().backward()
            opt.step()
    one = diagnosis.record().wire()["findings"][0]
    assert one["shapes"] is None and one["cell"] is None and one["line"] > 0


def test_the_guilty_module_is_among_the_few_that_are_shown():
    net = nn.Sequential(*[nn.Linear(2, 2) for _ in range(40)])
    for i in (0, 5, 20, 39):
        rows = tree_of(Finding("x", WRONG, EXACT, "", layer=f"net[{i}].bias"), {"net": net})
        assert len(rows) <= MOST and rows[0][1] == "net"
        assert [name for _, name, _, role in rows if role] == [f"net[{i}]"]
    assert tree_of(Finding("x", WRONG, EXACT, "", layer="other[1]"), {"net": net}) == []
    assert tree_of(Finding("x", WRONG, EXACT, ""), {"net": net}) == []
