"""What layers are called, in every nesting, and that one name stands in every view."""

import io

import pytest

import vistorch as L
from vistorch import nn
from vistorch.debug import Record, Recording, Stepper, Trace
from vistorch.debug.compare import compare
from vistorch.debug.graph import Calls, capture
from vistorch.debug.layers import about, below, is_module, size_of, spoken
from vistorch.debug.steps import record
from vistorch.debug.timeline import Timeline, memory


class Odd(nn.Module):
    """Attributes that are named as sizes are, and are none."""

    def __init__(self):
        super().__init__()
        self.in_features, self.out_features, self.kernel_size = "many", None, object()

    @property
    def num_features(self):
        raise AssertionError("a property of the user's must not run")


class Mixed(nn.Module):
    """Every container, a shared layer, and a layer that is used twice."""

    def __init__(self):
        super().__init__()
        self.stack = nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.Tanh(), nn.Linear(4, 4)))
        self.list = nn.ModuleList([nn.Linear(4, 4), nn.ModuleList([nn.Linear(4, 4)])])
        self.dict = nn.ModuleDict({"a": nn.Linear(4, 4), "0": nn.Linear(4, 3)})
        self.again = self.list[0]

    def forward(self, x):
        x = self.list[1][0](self.list[0](self.stack(x)))
        return self.dict["0"](self.dict["a"](self.again(x)))


class Whole(nn.Module):
    """A list within a dict."""

    def __init__(self):
        super().__init__()
        self.part = nn.ModuleDict({"head": nn.Sequential(nn.Linear(4, 2), nn.Tanh())})

    def forward(self, x):
        return self.part["head"](x)


def layers(net, listening=True, name="net"):
    """The layers that the boxes and frames of a network's graph name."""
    if listening:
        with Calls(forget=True):
            loss = net(L.ones(1, 4)).sum()
    else:
        Calls(forget=True)
        loss = net(L.ones(1, 4)).sum()
    made = capture(loss, namespace={name: net})
    frames = {f"{made.tree.label(g)} {made.tree.about(g)}" for g in made.tree.frames}
    return frames | {made.tree.layer(i) for i in range(len(made.nodes))} - {""}


@pytest.mark.parametrize("listening", [True, False])
def test_every_nesting_has_the_names_that_code_gives_it(listening):
    names = layers(Mixed(), listening)
    linear = {one for one in names if "Linear" in one}
    assert {
        "stack[0] Linear 4 → 4",
        "stack[1][1] Linear 4 → 4",
        "list[1][0] Linear 4 → 4",
        "dict['a'] Linear 4 → 4",
        "dict['0'] Linear 4 → 3",
    } <= linear
    if listening:
        assert {"list[0] Linear 4 → 4", "list[0] (2nd use) Linear 4 → 4"} <= linear
    assert not any(name[0].isdigit() for name in names)


@pytest.mark.parametrize("listening", [True, False])
def test_a_network_that_is_a_list_is_named_before_the_index(listening):
    assert {"seq[0] Linear 4 → 2"} == layers(nn.Sequential(nn.Linear(4, 2)), listening, "seq")


def test_names_are_expressions_that_find_the_layer():
    net = Mixed()
    for path, module in net.named_modules():
        if path:
            assert eval("net." + spoken(path, net)) is module
    assert below("header.x", "head") == "header.x" and below("a[0].b", "a[0]") == "b"


def test_sizes_are_read_and_nothing_runs():
    assert size_of(Odd()) == "" and size_of(None) == "" and size_of(nn.LazyLinear(3)) == ""
    sizes = {
        nn.Conv1d(3, 4, 5): "3 → 4, 5",
        nn.Conv2d(6, 16, (5, 3)): "6 → 16, 5×3",
        nn.Embedding(65, 32): "65 → 32",
        nn.LayerNorm((8, 4)): "8×4",
        nn.BatchNorm2d(16): "16",
        nn.AdaptiveAvgPool2d((1, 1)): "→ 1×1",
        nn.MultiheadAttention(32, 4): "32, 4 heads",
        nn.Dropout(0.5): "p=0.5",
    }
    assert {size_of(module): None for module in sizes} == dict.fromkeys(sizes.values())


def test_steps_and_comparisons_use_the_same_names():
    runs = []
    for scale in (1.0, 2.0):
        L.manual_seed(0)
        with Record(str(scale)) as run:
            out = Whole()(L.full((1, 4), scale)).sum()
        runs.append(run.recording())
    assert "part['head'][0]" in {row["module"] for row in compare(*runs).rows}
    with Stepper(out) as stepper:
        assert "part.head[1]" in {node["layer"] for node in record(stepper).nodes if not node["leaf"]}


class Deep(nn.Module):
    """Layers of many classes in every container, and ops that belong to no layer."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.MaxPool2d(2))
        self.parts = nn.ModuleDict(
            {"norm": nn.LayerNorm(27), "0": nn.ModuleList([nn.Linear(27, 5), nn.Tanh()])}
        )

    def forward(self, x):
        x = self.parts["norm"](self.features(x).flatten(1))
        for one in self.parts["0"]:
            x = one(x)
        return x.exp()


def test_every_view_names_a_layer_with_its_class_and_size():
    """In traces, comparisons, files of recordings and memory: as the graph's boxes do."""
    net, x = Deep(), L.ones(2, 1, 8, 8)
    wanted = {spoken(path, net): about(one) for path, one in net.named_modules() if path}
    with Calls(forget=True), Trace() as trace, Timeline() as timeline, Record("a") as run:
        net(x).sum().backward()
    with Calls(forget=True):
        out = net(x).sum()
    boxes = capture(out, namespace={"net": net})
    file = io.BytesIO()
    run.recording().save(file)
    file.seek(0)
    compared = compare(Recording.load(file), run.recording())
    found = {
        "trace": trace.record().rows,
        "compare": compared.rows,
        "memory of a cell": timeline.record().rows,
        "memory of a tensor": memory(out, namespace={"net": net}).rows,
    }
    for view, rows in found.items():
        named = {row["module"]: row["layer"] for row in rows if row["module"]}
        assert named == {name: wanted[name] for name in named}, view
        assert {"features[0]", "parts['0'][0]", "parts['norm']"} <= set(named), view
        outside = {row.get("op", row.get("name")) for row in rows if not row["module"]}
        assert any("exp" in op.lower() for op in outside), view
    graph = {boxes.tree.layer(i) for i in range(len(boxes.nodes))} - {""}
    assert graph == {f"{name} {about}" for name, about in wanted.items() if f"{name} {about}" in graph}
    for made in (timeline.record(), memory(out, namespace={"net": net})):
        assert "parts['0'][0] Linear 27 → 5" in made.text()


def test_a_layer_that_differs_between_two_runs_is_reported_with_both_sizes():
    runs = []
    for wide in (4, 6):
        with Record(str(wide)) as run:
            nn.Sequential(nn.Linear(4, wide))(L.ones(1, 4)).sum()
        runs.append(run.recording())
    assert {row["layer"] for row in compare(*runs).rows if row["module"]} == {"Linear 4 → 4 ≠ Linear 4 → 6"}


def test_replicas_on_several_devices_have_the_names_of_their_layers():
    L.cuda.simulate(2)
    try:
        inner = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Sequential(nn.Linear(3, 2))).cuda()
        net = nn.DataParallel(inner)
        with Calls(forget=True), Trace() as trace, Timeline() as timeline, Record() as run:
            out = net(L.ones(6, 4).cuda()).sum()
            graph = capture(out, namespace={"net": net})
            out.backward()
        wanted = {"[0] Linear 4 → 3", "[1] ReLU", "[2][0] Linear 3 → 2"}
        for rows in (
            trace.record().rows,
            compare(run.recording(), run.recording()).rows,
            timeline.record().rows,
        ):
            assert {f"{row['module']} {row['layer']}" for row in rows if row["module"]} == wanted
        boxes = {(node.op, graph.groups[node.group].path) for node in graph.nodes if node.group >= 0}
        assert {("Addmm", "module.0"), ("Addmm", "module.2.0"), ("Relu", "module")} <= boxes
        assert {path for op, path in boxes if op == "Broadcast"} == {"module"}  # around all that it copies
    finally:
        L.cuda.simulate(0)


def test_an_op_on_the_parameters_of_several_layers_belongs_to_none_of_them():
    net = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)))
    Calls(forget=True)
    for parts, path in (((0, 1), ""), ((1, 2), "1"), ((1, 1), "1.0")):
        weights = [[net[0], net[1][0], net[1][1]][i].weight for i in parts]
        made = capture(L.cat(weights).sum(), namespace={"net": net})
        (cat,) = [node for node in made.nodes if node.op == "Cat"]
        assert (made.groups[cat.group].path if cat.group >= 0 else "") == path


def test_a_module_is_known_by_its_class_in_every_view():
    """Names of parameters, boxes of layers and drawings of shape errors all stand on this question."""
    net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    assert is_module(net) and is_module(net[0])
    assert not any(is_module(one) for one in (nn.Linear, L.ones(2), L, None, Odd, "net"))
    loss = net(L.ones(2, 2)).sum()
    made = capture(loss, namespace={"net": net})
    assert {node.label for node in made.nodes if node.kind == "parameter"} == {
        "0.weight",
        "0.bias",
        "1.weight",
        "1.bias",
    }
