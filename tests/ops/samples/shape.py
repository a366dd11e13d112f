"""Records of views, shapes, joining and splitting. Invariant: a sample that torch refuses stays a sample."""

import numpy as np

from tests.ops.record import Lib, Op, S, X

x0, x1, x3, x4, x6 = X(()), X((1,)), X((3,)), X((4,)), X((6,))
x23, x232, x33, x43 = X((2, 3)), X((2, 3, 2)), X((3, 3)), X((4, 3))
x131, x2345 = X((1, 3, 1)), X((2, 3, 4, 2))
f32, f64 = Lib("float32"), Lib("float64")


def calls(name: str, *argument_lists: tuple, **more) -> Op:
    """A record from plain positional argument lists."""
    return Op(name, [S(*arguments) for arguments in argument_lists], **more)


def joined(name: str, *lists: tuple, dims: tuple = (), **more) -> Op:
    """A function of a sequence of tensors, some with a dim."""
    samples = [S(tensors) for tensors in lists]
    samples += [S(tensors, dim=dim) for tensors in lists for dim in dims]
    samples += [S(list(lists[0])), S([]), S((x3, 2)), S((x3, X((3,), dtype="int64")))]
    return Op(name, samples, **more)


SHAPE_ONLY = {"mixed_devices": "only the other tensor's shape is used, wherever that tensor is"}
BETWEEN = {"mixed_devices": "copies from one device to another"}
GRID = {"mixed_devices": "torch has a sentence of its own here"}
TO_CPU = {"device": "goes to, or names, a certain device"}
KINDS = ("float", "complex", "int", "bool")
CONJUGATED = {"sharing": "a conjugate is computed at once, where torch keeps a view that conjugates lazily"}
RESHAPE = [
    calls(
        "Tensor.view",
        (x6, 2, 3),
        (x6, (3, 2)),
        (x6, -1, 2),
        (x23, 6),
        (x6, 4),
        (x6, -1, -1),
        (x6, [1, 6]),
        (x6, 2, 2),
    ),
    Op(
        "Tensor.view",
        [S(x4, Lib("float32")), S(x4, Lib("int64")), S(x43, Lib("int16"))],
        variants=False,
        tag="dtype",
    ),
    calls("Tensor.view_as", (x6, x23), (x23, x6), (x6, x4), differs=SHAPE_ONLY),
    calls(
        "reshape",
        (x6, (2, 3)),
        (x23, (3, -1)),
        (x23, [6]),
        (x6, (4,)),
        (x6, (-1, -1)),
        (x6, (-1, 4)),
        (x1, ()),
    ),
    calls("Tensor.reshape", (x6, 2, 3), (x6, (3, -1)), (x23, 6)),
    calls("Tensor.reshape_as", (x6, x23), differs=SHAPE_ONLY),
    calls("flatten", (x23,), (x0,), (x232, 1), (x232, 0, 1), (x2345, -3, -2), (x232, 2, 1), (x23, 3)),
    calls(
        "unflatten", (x6, 0, (2, 3)), (X((2, 6)), 1, (3, -1)), (x6, 0, (4, 2)), (x6, 1, (2, 3)), (x6, 0, ())
    ),
    calls("ravel", (x23,), (x6,), (x0,)),
    calls(
        "squeeze",
        *((x131,), (x23,), (x131, 0), (x131, 1), (x131, (0, 2)), (x131, -1), (x131, 3), (x0, 0)),
        differs={"names": "numpy's name `x` for the tensor is not taken over"},
    ),
    calls("unsqueeze", (x23, 0), (x23, -1), (x23, 2), (x23, 3), (x0, 0)),
    calls("transpose", (x23, 0, 1), (x232, -1, 0), (x23, 0, 2), (x0, 0, 0), (x6, 0, 0)),
    calls("swapaxes", (x23, 0, 1), (x232, -1, 0), (x23, 0, 2)),
    calls("swapdims", (x23, 0, 1), (x232, -1, 0)),
    calls(
        "permute",
        (x23, (1, 0)),
        (x232, (2, 0, 1)),
        (x232, (-1, 0, 1)),
        (x23, (0, 0)),
        (x23, (0,)),
        (x23, (0, 2)),
    ),
    calls("Tensor.permute", (x232, 2, 0, 1), (x232, (0, 2, 1))),
    calls("movedim", (x232, 0, 2), (x232, (0, 1), (2, 0)), (x232, -1, 0), (x23, (0, 0), (0, 1)), (x23, 0, 3)),
    calls("moveaxis", (x232, 0, 2)),
    calls("t", (x23,), (x6,), (x0,), (x232,)),
    *(calls(f"Tensor.{name}", (x23,), (x232,), (x6,), (x0,)) for name in ("T", "mT")),
    *(calls(f"Tensor.{name}", (x23,), (x232,), (x6,), (x0,), differs=CONJUGATED) for name in ("H", "mH")),
    calls("adjoint", (x23,), (x232,), differs=CONJUGATED),
    calls(
        "narrow",
        (x23, 1, 1, 2),
        (x23, 0, -1, 1),
        (x23, 0, 1, 2),
        (x23, 2, 0, 1),
        (x23, 1, 0, -1),
        (x4, 0, 0, 0),
    ),
    calls("select", (x23, 0, 1), (x23, 1, -1), (x23, 0, 2), (x23, 2, 0), (x0, 0, 0)),
    calls(
        "diagonal",
        (x33,),
        (x23, 1),
        (x23, -1),
        (x232, 0, 0, 2),
        (x232, 0, -1, 1),
        (x33, 5),
        (x4,),
        (x23, 0, 1, 1),
    ),
    calls(
        "Tensor.unfold",
        (x6, 0, 3, 1),
        (x6, 0, 2, 2),
        (x43, 0, 2, 1),
        (x6, 0, 7, 1),
        (x0, 0, 1, 1),
        (x6, 0, 2, 0),
    ),
    Op(
        "as_strided",
        [
            S(x6, (2, 2), (2, 1)),
            S(x6, (2, 2), (1, 1), 1),
            S(x23, (3, 2), (1, 3)),
            S(x6, (4, 4), (2, 1)),
            S(x6, (2,), (1, 1)),
        ],
        variants=False,
        layouts=False,
    ),
]

EXPAND = [
    calls(
        "Tensor.expand",
        (x1, 3),
        (x131, 2, 3, 4),
        (x131, (2, 3, -1)),
        (x23, 2, 4),
        (x23, 3),
        (x0, 2, 2),
        (x1, -1, 3),
    ),
    calls("Tensor.expand_as", (x1, x23), (x131, x232), (x23, x33), differs=SHAPE_ONLY),
    calls("broadcast_to", (x1, (2, 3)), (x3, (2, 3)), (x23, (3,)), (x23, (2, 4))),
    calls("broadcast_tensors", (x23, x3), (X((2, 1)), X((1, 3))), (x23, x4), (x0, x3), differs=SHAPE_ONLY),
    Op("broadcast_shapes", [S((2, 1), (1, 3)), S((3,), (2, 3), ()), S((2,), (3,)), S(3, (2, 1))]),
    Op(
        "Tensor.repeat",
        # the gradient of -1 times nothing is an error in torch, although the forward is none
        [S(x3, 2), S(x3, 2, 2), S(x23, (2, 1)), S(x23, 2), S(x3, 0), S(x3, -1).forward_only()],
    ),
    calls("tile", (x3, (2,)), (x23, (2, 1)), (x23, (2,)), (x0, (2, 2))),
    Op(
        "repeat_interleave",
        [
            S(x3, 2),
            S(x23, 2, 1),
            S(x23, 2, dim=0),
            S(x23, np.array([1, 2, 0]), dim=1),
            S(x3, np.array([1, 0, 2])),
            S(x3, np.array([1, 2])),
            S(x3, -1),
            S(np.array([1, 0, 2])),
            S(x3, np.array([1, 0, 2]), output_size=3),
        ],
    ),
    *(calls(f"atleast_{n}d", (x0,), (x3,), (x23,), (x232,), ((x0, x3),)) for n in (1, 2, 3)),
    Op(
        "meshgrid",
        [
            S(x3, X((2,)), indexing="ij"),
            S(x3, X((2,)), indexing="xy"),
            S(x0, x3, indexing="ij"),
            S(x23, x3, indexing="ij"),
            S([x3, X((2,))], indexing="ij"),
            S(x3, x3, indexing="no"),
            S(x3, X((2,))),
        ],
        differs=GRID,
        loose=(("Expected 0D or 1D tensor", "ends with the tensor as C++ prints it"),),
    ),
    Op("cartesian_prod", [S(x3, X((2,))), S(x3), S(x23, x3)], differs=GRID),
    Op("combinations", [S(x4), S(x4, 3), S(x3, 2, True), S(x23), S(x4, r=0), S(x4, r=-1)]),
    # torch's gradient beside an empty block is that of another element: forward only
    Op(
        "block_diag", [S(x23, x1, x0), S(x3), S(x232, x3), S(x23, X((0,)), x0).forward_only()], variants=False
    ),
]

JOIN = [
    *(
        joined(name, (x23, X((1, 3))), (x23, x23), (x3, X((0,))), dims=(0, -1, 2))
        for name in ("cat", "concat")
    ),
    joined("stack", (x23, x23), (x3, x3, x3), (x0, x0), (x3, x4), dims=(1, -1, 3)),
    *(
        joined(name, (x3, x3), (x23, x23), (x0, x0), (x23, x33))
        for name in ("hstack", "vstack", "dstack", "column_stack")
    ),
]

SPLIT = [
    calls("chunk", (x6, 3), (x6, 4), (x23, 2, 1), (x23, 0), (x23, 2, 2), (x0, 1)),
    calls(
        "split", (x6, 2), (x6, 4), (x6, [1, 2, 3]), (x23, 1, 1), (x6, [1, 2]), (x6, 0), (x6, -1), (x23, 1, 2)
    ),
    calls("split_with_sizes", (x6, [1, 2, 3]), (x23, [1, 2], 1), (x6, [1, 2])),
    calls(
        "tensor_split",
        (x6, 4),
        (x6, (1, 3)),
        (x23, 2, 1),
        (x6, [2, 2, 9]),
        (x6, 0),
        (x0, 1),
        (x6, np.array([1, 3])),
        differs={"device": "indices in a tensor must be on the CPU"},
    ),
    *(
        calls(name, (x6, 2), (X((2, 4)), 2), (x232, 2), (X((2, 4, 2)), (1,)), (x0, 1))
        for name in ("hsplit", "vsplit", "dsplit")
    ),
    calls("unbind", (x23,), (x23, 1), (x232, -1), (x23, 2), (x0,)),
]

FLIP = [
    calls("flip", (x23, (0,)), (x23, (0, 1)), (x232, [-1]), (x23, (0, 0)), (x23, (2,)), (x23, ())),
    calls("fliplr", (x23,), (x6,)),
    calls("flipud", (x23,), (x6,), (x0,)),
    calls("rot90", (x23,), (x23, 2), (x23, -1, (1, 0)), (x232, 1, (0, 2)), (x23, 1, (0, 0)), (x6,)),
    calls("roll", (x6, 2), (x23, 1, 0), (x23, (1, -1), (0, 1)), (x23, 1), (x23, (1, 2), 0), (x23, 1, 2)),
]

TRIANGLES = [
    *(calls(name, (x33,), (x23, 1), (x232, -1), (x43, -2), (x6,)) for name in ("tril", "triu")),
    calls("diag", (x3,), (x33,), (x3, 1), (x23, -1), (x232,), (x0,)),
    calls("diag_embed", (x3,), (x23, 1), (x23, -1, 0, 2), (x23, 0, 0, 0)),
    calls("diagflat", (x3,), (x23, 1)),
    Op(
        "diagonal_scatter",
        # the kinds keep out complex with real, whose gradient torch refuses
        [S(x33, x3).only(*KINDS), S(x23, X((2,)), 1).only(*KINDS), S(x33, x4)],
    ),
    calls("select_scatter", (x23, x3, 0, 1), (x23, X((2,)), 1, -1), (x23, x4, 0, 1)),
    calls(
        "slice_scatter",
        (x43, x23, 0, 1, 3),
        (x43, X((4, 2)), 1, 0, 3, 2),
        (x43, x33, 0, 1, 3),
        (x43, x43),
    ),
    *(
        Op(
            name,
            [
                S(3, 3),
                S(3, 2, 1),
                S(2, 4, -1),
                S(3, 3, offset=2),
                S(3, 3, dtype=Lib("int32")),
                S(0, 3),
                S(-1, 2),
            ],
        )
        for name in ("tril_indices", "triu_indices")
    ),
]

COPIES = [
    Op("clone", [S(x23), S(x0), S(x23, memory_format=Lib("contiguous_format"))]),
    Op("Tensor.contiguous", [S(x23), S(x0)]),
    Op("Tensor.detach", [S(x23)], loose=(("Can't detach views", "names a file of the library"),)),
    Op("Tensor.data", [S(x23)]),
    Op("Tensor.type", [S(x23), S(x23, f32), S(x3, Lib("int64")).forward_only()], differs=TO_CPU),
    Op(
        "Tensor.type_as",
        [S(x23, X((2,), dtype="float32")), S(x23, X((), dtype="int64")).forward_only()],
        differs={"mixed_devices": "the result is where the other tensor is"},
    ),
    Op(
        "Tensor.to",
        [
            S(x23, f32),
            S(x23, f64),
            S(x23, "cpu"),
            S(x23, "cpu", f64),
            S(x23, X((), dtype="float32", grad=False)),
            S(x23, dtype=f32, copy=True),
            S(x23, f64, copy=True),
            S(x23, Lib("bool")),
            S(x23, Lib("complex128")),
            S(x23, device="cpu", dtype=Lib("int32")),
        ],
        differs=TO_CPU,
    ),
    *(
        Op(f"Tensor.{name}", [S(x23), S(x0)])
        for name in (
            "double",
            "float",
            "half",
            "bfloat16",
            "long",
            "int",
            "short",
            "char",
            "bool",
            "cfloat",
            "cdouble",
        )
    ),
    Op("Tensor.cpu", [S(x23), S(x0)], differs=TO_CPU),
    Op("Tensor.byte", [S(X((2, 3), 0, 2))]),
    *(
        Op(f"Tensor.{name}", [S(x23), S(x0), S(x3)])
        for name in ("numel", "dim", "size", "is_contiguous", "element_size")
    ),
    # an empty numpy array has strides of its own, and torch.tensor takes them over
    Op("Tensor.stride", [S(x23), S(x0), S(x3)], variants=False),
    Op("Tensor.size", [S(x23, 1), S(x23, -1), S(x23, 2)], tag="dim"),
    *(
        Op(f"Tensor.{name}", [S(x23)])
        for name in ("shape", "ndim", "dtype", "itemsize", "nbytes", "is_leaf", "requires_grad")
    ),
    *(Op(f"Tensor.{name}", [S(x23)]) for name in ("is_floating_point", "is_complex", "is_signed")),
    Op("Tensor.nelement", [S(x23)]),
    Op("numel", [S(x23)]),
    Op("Tensor.item", [S(x0), S(x1), S(x23)]),
    Op("Tensor.tolist", [S(x0), S(x23), S(x232)]),
    Op(
        "Tensor.copy_",
        [S(x23, x23), S(x23, x3), S(x23, x0)],
        fn=lambda L, x, y: x.clone().copy_(y),
        differs=BETWEEN,
    ),
    Op("resolve_conj", [S(x23)]),
]


OPS: list[Op] = [*RESHAPE, *EXPAND, *JOIN, *SPLIT, *FLIP, *TRIANGLES, *COPIES]
