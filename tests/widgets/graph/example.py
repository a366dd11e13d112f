"""Records of graphs: a folded network with its backward pass, a single op."""

import vistorch
from tests.debug.graph.networks import capture, graph

EXAMPLES = {
    "network": lambda: graph(backward=True),
    "forward": lambda: graph(),
    "op": lambda: capture(vistorch.ones(2, requires_grad=True).exp()),
}
