"""Which names stand on which page of the reference.

Invariant: a public function of `vistorch` stands on exactly one page; a family that no section names gets on "Other".
"""

from __future__ import annotations

from typing import Any

# Title, file of the page, and where in vistorch/ the functions are written that stand on it.
FUNCTIONS = (
    (
        "Making tensors",
        "making",
        ("engine/ops/create/", "engine/methods/dlpack", "torch_api/files"),
    ),
    ("Arithmetic, element by element", "pointwise", ("engine/ops/elementwise/", "engine/core/pointwise")),
    ("Sums, extremes, order, counting", "reductions", ("engine/ops/reduce/",)),
    ("Shapes, views, joining and splitting", "shapes", ("engine/ops/shape/",)),
    ("Reading and writing by index", "indexing", ("engine/ops/index/",)),
    ("Products and decompositions", "products", ("engine/ops/linalg/", "torch_api/lowrank")),
    (
        "Layers as plain functions",
        "layers",
        tuple(
            f"engine/ops/{family}/"
            for family in "activation conv embedding image loss normalize pool recurrent".split()
        ),
    ),
    (
        "Types, devices, randomness and settings",
        "settings",
        (
            "engine/base/dtypes",
            "engine/base/device",
            "engine/base/modes",
            "engine/methods/format",
            "engine/random/generators",
            "engine/methods/metadata",
            "engine/backward/anomaly",
            "torch_api/settings",
            "amp/",
            "random",
            "serialization/",
            "torch_api/compiler",
            "torch_api/jit",
        ),
    ),
)
# What only says that PyTorch has it and vistorch does not, and what PyTorch has taken away.
LEFT_OUT = (
    "torch_api/unbuilt",
    "torch_api/rare_values",
    "engine/ops/legacy/",
    "engine/core/inplace",
    "magics",
    "func/batches",
)

# Title, file of the page, modules.
MODULES = (
    ("The notebook: vistorch.vt", "vt", ("vistorch.vt",)),
    (
        "vistorch.autograd",
        "autograd",
        ("vistorch.autograd", "vistorch.autograd.functional", "vistorch.utils.checkpoint"),
    ),
    ("vistorch.nn", "nn", ("vistorch.nn",)),
    ("vistorch.nn.functional", "nn-functional", ("vistorch.nn.functional",)),
    (
        "vistorch.nn: initial values, utilities, parallel",
        "nn-more",
        (
            "vistorch.nn.init",
            "vistorch.nn.utils",
            "vistorch.nn.utils.rnn",
            "vistorch.nn.utils.parametrize",
            "vistorch.nn.utils.prune",
            "vistorch.nn.parallel",
        ),
    ),
    (
        "vistorch.optim",
        "optim",
        ("vistorch.optim", "vistorch.optim.lr_scheduler", "vistorch.optim.swa_utils"),
    ),
    ("vistorch.utils.data", "data", ("vistorch.utils.data",)),
    (
        "vistorch.vision",
        "vision",
        (
            "vistorch.vision.datasets",
            "vistorch.vision.transforms",
            "vistorch.vision.transforms.v2",
            "vistorch.vision.transforms.v2.functional",
            "vistorch.vision.tv_tensors",
            "vistorch.vision.models",
            "vistorch.vision.utils",
            "vistorch.vision.io",
        ),
    ),
    ("vistorch.cuda", "cuda", ("vistorch.cuda",)),
    ("vistorch.amp", "amp", ("vistorch.amp",)),
    ("vistorch.distributions", "distributions", ("vistorch.distributions",)),
    (
        "vistorch.linalg, fft, special, signal",
        "linalg",
        ("vistorch.linalg", "vistorch.fft", "vistorch.special", "vistorch.signal.windows"),
    ),
    ("vistorch.func", "func", ("vistorch.func",)),
    ("vistorch.multiprocessing", "multiprocessing", ("vistorch.multiprocessing",)),
    ("vistorch.serialization", "serialization", ("vistorch.serialization",)),
    ("vistorch.compat and the tutorials", "compat", ("vistorch.compat", "vistorch.tutorials")),
    (
        "Records: vistorch.debug",
        "debug",
        (
            "vistorch.debug",
            "vistorch.debug.array",
            "vistorch.debug.graph",
            "vistorch.debug.steps",
            "vistorch.debug.trace",
            "vistorch.debug.compare",
            "vistorch.debug.breaks",
            "vistorch.debug.watch",
        ),
    ),
    (
        "Views: vistorch.widgets",
        "widgets",
        (
            "vistorch.widgets._frame.display",
            "vistorch.widgets._frame.live",
            "vistorch.widgets.array.live",
            "vistorch.widgets.graph.live",
            "vistorch.widgets.steps.live",
            "vistorch.widgets.vars.live",
            "vistorch.widgets._frame.pump",
        ),
    ),
)

# The parts of a page that would be too long without: their titles, and the files whose classes stand there.
GROUPS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "vistorch.nn": (
        ("Modules, parameters and containers", ("module", "parameter", "container")),
        ("Convolution", ("conv", "fold")),
        ("Pooling", ("pooling",)),
        ("Padding", ("padding",)),
        ("Activations", ("activation", "adaptive")),
        ("Normalization", ("batchnorm", "instancenorm", "normalization")),
        ("Recurrent layers", ("rnn", "rnn_base", "rnn_cells")),
        ("Attention and the Transformer", ("multihead", "transformer", "transformer_layers")),
        ("Linear layers", ("linear",)),
        ("Dropout", ("dropout",)),
        ("Embeddings", ("sparse",)),
        ("Distances", ("distance",)),
        ("Losses", ("loss",)),
        ("Shapes and images", ("flatten", "pixelshuffle", "channelshuffle", "upsampling")),
        ("Several devices", ("data_parallel",)),
        ("Hooks of all modules, and helpers", ("global_hooks", "factory")),
    ),
}


def group_of(thing: Any, groups: tuple[tuple[str, tuple[str, ...]], ...] | None) -> str:
    """Return the title of the part of a page that a thing stands in; nothing where a page has no parts.

    Args:
        thing: a function or a class.
        groups: the parts of its page, if it has any.
    """
    file = thing.__module__.rpartition(".")[2]
    for title, files in groups or ():
        if file in files:
            return title
    if groups:
        raise LookupError(f"no part of the page has {thing.__module__}, which {thing.__name__} is written in")
    return ""
