"""A stand-in for cuDNN's Python frontend: graphs of convolutions, checked and computed by torch in float64.

Invariant: it refuses what says too little of itself: a tensor without dims, strides, type or a name of its own.
"""

from __future__ import annotations

import ctypes
import types

import ml_dtypes
import numpy as np
import torch

TYPES = {"FLOAT": "f4", "DOUBLE": "f8", "HALF": "f2", "BFLOAT16": ml_dtypes.bfloat16}
CONV = {1: torch.nn.functional.conv1d, 2: torch.nn.functional.conv2d, 3: torch.nn.functional.conv3d}


class Tensor:
    """A description; its setters give itself."""

    def __init__(self, **about):
        self.about = about

    def __getattr__(self, name):
        if not name.startswith("set_"):
            raise AttributeError(name)

        def put(value):
            self.about[name[4:]] = value
            return self

        return put

    def array(self, address):
        """What lies in memory."""
        dim, stride = self.about["dim"], self.about["stride"]
        kind = np.dtype(TYPES[self.about["data_type"]])
        span = (1 + sum((n - 1) * s for n, s in zip(dim, stride, strict=True))) * kind.itemsize
        buffer = (ctypes.c_char * span).from_address(address)
        return np.ndarray(dim, kind, buffer, strides=[s * kind.itemsize for s in stride])


class Graph:
    """`cudnn.pygraph`."""

    ways = 3  # how many plans there are for each graph

    def __init__(self, frontend, **options):
        self.frontend, self.options, self.steps = frontend, options, []
        self.tensors, self.added = [], None
        frontend.graphs.append(self)

    def _done(self, step):
        self.steps.append(step)

    def tensor(self, **about):
        assert set(about) >= {"name", "dim", "stride", "data_type", "uid"}, about
        made = Tensor(**about)
        self.tensors.append(made)
        return made

    def _operation(self, kind, ins, options):
        out = Tensor()
        self.tensors.append(out)
        self.kind, self.ins, self.out, self.geometry = kind, ins, out, options
        assert options["pre_padding"] == options["post_padding"]
        return out

    def conv_fprop(self, image, weight, **options):
        return self._operation("forward", (image, weight), options)

    def bias(self, input, bias, compute_data_type):
        assert input is self.out and input.about == {"data_type": self.options["compute_data_type"]}
        assert compute_data_type == self.options["compute_data_type"]
        self.tensors.remove(input)  # of the graph alone
        self.added, self.out = bias, Tensor()
        self.tensors.append(self.out)
        return self.out

    def conv_dgrad(self, loss, filter, **options):
        return self._operation("input", (loss, filter), options)

    def conv_wgrad(self, image, loss, **options):
        return self._operation("weight", (image, loss), options)

    def validate(self):
        self._done("validate")
        assert self.out.about.pop("output") is True
        seen = [t.about["uid"] for t in self.tensors]
        assert len(set(seen)) == 3 + (self.added is not None)
        for t in self.tensors:
            assert len(t.about["dim"]) == len(t.about["stride"]) in (4, 5), (
                "images of one dim have two in cuDNN"
            )
            assert t.about["data_type"] == self.options["io_data_type"]

    def build_operation_graph(self):
        self._done("build_operation_graph")

    def create_execution_plans(self, modes):
        assert modes == ["A", "FALLBACK"]
        self._done("create_execution_plans")

    def deselect_numeric_notes(self, notes):
        self._done(("without", *notes))

    def check_support(self):
        self._done("check_support")
        if self.frontend.refuses(self):
            raise RuntimeError("No valid engine configs")

    def build_plans(self, policy):
        self._done(("build", policy))

    def build_plan_at_index(self, index):
        self.chosen = index

    def get_execution_plan_count(self):
        return self.ways

    def get_workspace_size(self):
        return 1024

    def execute(self, pack, workspace, handle):
        assert handle is self.options["handle"]
        assert workspace
        assert not [address for address in pack.values() if address % 16], "cuDNN reads 16 bytes at a time"
        self._done("execute")
        a, b = (torch.tensor(t.array(pack[t.about["uid"]]).astype("f8")) for t in self.ins)
        out = self.out.array(pack[self.out.about["uid"]])
        g = self.geometry
        rest = (None, g["stride"], g["pre_padding"], g["dilation"])
        conv = CONV[len(g["stride"])]
        if self.kind == "forward":
            found = conv(a, b, *rest, a.shape[1] // b.shape[1])
            if self.added is not None:
                found = found + torch.tensor(self.added.array(pack[self.added.about["uid"]]).astype("f8"))
        else:
            shape = torch.zeros(out.shape, dtype=torch.float64, requires_grad=True)
            x, w, grad = (shape, b, a) if self.kind == "input" else (a, shape, b)
            y = conv(x, w, *rest, x.shape[1] // w.shape[1])
            assert y.shape == grad.shape
            (found,) = torch.autograd.grad(y, shape, grad)
        out[...] = found.detach().numpy().astype(out.dtype)


def names(*given):
    return types.SimpleNamespace(**{name: name for name in given})


def make(refuses=lambda graph: False):
    """The module `cudnn`."""
    cudnn = types.ModuleType("cudnn")
    cudnn.graphs, cudnn.refuses = [], refuses
    cudnn.data_type = names(*TYPES)
    cudnn.heur_mode = names("A", "B", "FALLBACK")
    cudnn.build_plan_policy = names("ALL", "HEURISTICS_CHOICE")
    cudnn.numerical_note = names("NONDETERMINISTIC", "DOWN_CONVERT_INPUTS")
    cudnn.pygraph = lambda **options: Graph(cudnn, **options)
    cudnn.create_handle = object
    cudnn.streams = []
    cudnn.set_stream = lambda handle, stream: cudnn.streams.append(stream)
    cudnn.backend_version = lambda: 92600
    return cudnn
