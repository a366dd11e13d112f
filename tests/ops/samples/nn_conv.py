"""Convolutions, unfold and fold."""

from tests.ops.record import Op, S, X

CHOSEN = (
    r"should be the same|expected scalar type|_cpu|slow_conv|compute_columns|must have the same dtype",
    "torch words a refusal of types by the kernel that it happens to choose",
)
INSIDE = (
    r"could not (create|construct)|dilation should be greater than zero, but|non-positive dilation",
    "torch's kernels have words of their own, and which one runs depends on strides and sizes",
)
TAPLESS = (r"narrow|negative padding|kernel size should be", "a kernel without taps fails anywhere in torch")
REAL = ("float16", "bfloat16", "float32", "float64", "int64", "int32", "uint8", "bool")
LOOSE = (CHOSEN, INSIDE, TAPLESS)


def record(name: str, samples: list, **more) -> Op:
    """A convolution: in torch a complex one is three real ones, and its node is their sum."""
    return Op("nn.functional." + name, samples, loose=LOOSE, only_dtypes=REAL, **more)


def complex_record(name: str, samples: list, **more) -> Op:
    """The same for complex numbers."""
    both = ("complex64", "complex128")
    return Op(
        "nn.functional." + name, samples, loose=LOOSE, only_dtypes=both, grad_fn=False, tag="complex", **more
    )


def both(name: str, samples: list, **more) -> list[Op]:
    """A record for real numbers, and one for complex ones."""
    return [record(name, samples, **more), complex_record(name, samples[:3], **more)]


ONE = [
    S(X((2, 3, 6)), X((4, 3, 3)), X((4,))),
    S(X((2, 3, 6)), X((4, 3, 3))),
    S(X((2, 4, 7)), X((4, 2, 3)), X((4,)), stride=2, padding=1, dilation=2, groups=2),
    S(X((3, 6)), X((4, 3, 2)), None, 2),
    S(X((2, 3, 5)), X((4, 3, 3)), padding="same"),
    S(X((2, 3, 5)), X((4, 3, 3)), padding="valid"),
    S(X((2, 3, 5)), X((4, 3, 1)), X((4,)), (2,), (0,)),
    S(X((2, 3, 1)), X((4, 3, 3)), None, 1, 2),
    S(X((2, 3, 5)), X((4, 2, 3))),
    S(X((2, 3, 2)), X((4, 3, 3))),
    S(X((2, 3, 5)), X((4, 3, 3)), X((3,))),
    S(X((2, 3, 5)), X((4, 3, 3)), None, (1, 1)),
]
TWO = [
    S(X((2, 3, 5, 6)), X((4, 3, 3, 2)), X((4,))),
    S(X((2, 2, 5, 5)), X((3, 2, 3, 3)), None, 2, 1),
    S(X((1, 4, 6, 5)), X((6, 2, 2, 3)), X((6,)), stride=(2, 1), padding=(1, 2), dilation=(1, 2), groups=2),
    S(X((3, 4, 4)), X((2, 3, 3, 3)), X((2,)), padding=1),
    S(X((2, 3, 4, 4)), X((2, 3, 1, 1))),
    S(X((2, 3, 5, 4)), X((2, 3, 1, 1)), X((2,)), stride=2),
    S(X((2, 3, 4, 4)), X((2, 3, 1, 1)), padding=1),
    S(X((2, 3, 5, 4)), X((3, 1, 3, 3)), X((3,)), padding=1, groups=3),
    S(X((2, 3, 5, 4)), X((3, 1, 3, 2)), stride=2, groups=3),
    S(X((2, 2, 5, 4)), X((4, 1, 3, 3)), padding=2, dilation=2, groups=2),
    S(X((2, 3, 5, 4)), X((2, 3, 3, 3)), padding="same", dilation=(1, 2)),
    S(X((2, 3, 5, 4)), X((2, 3, 2, 4)), padding="same"),
    S(X((2, 3, 1, 2)), X((2, 3, 3, 3)), X((2,)), padding=1),
    S(X((2, 3, 2, 2)), X((2, 3, 5, 3)), stride=3, padding=3),
    S(X((2, 3, 5, 4)), X((2, 3, 3, 3)), padding="same", stride=2),
    S(X((2, 3, 5, 4)), X((2, 3, 3, 3)), padding="none"),
    S(X((2, 3, 5, 4)), X((3, 3, 3, 3)), groups=2),
    S(X((2, 3, 5, 4)), X((2, 3, 3, 3)), groups=0),
    S(X((2, 3, 5, 4)), X((2, 3, 3, 3)), stride=0),
    S(X((2, 3, 5, 4)), X((2, 3, 3, 3)), padding=-1),
    S(X((2, 3, 5, 4)), X((2, 3, 3, 3)), dilation=0),
    S(X((2, 3, 5, 4)), X((2, 3, 3, 3)), dilation=-1),
    S(X((2, 3, 5, 4)), X((2, 3, 3))),
    S(X((5, 4)), X((2, 3, 3, 3))),
]
THREE = [
    S(X((2, 2, 3, 4, 3)), X((3, 2, 2, 2, 2)), X((3,))),
    S(X((1, 2, 4, 3, 5)), X((2, 1, 2, 1, 2)), None, (2, 1, 2), (0, 1, 1), (1, 1, 2), 2),
    S(X((2, 3, 3, 3)), X((1, 2, 3, 3, 3)), padding=1),
    S(X((2, 2, 3, 3, 3)), X((1, 2, 3, 3, 3)), padding="same"),
    S(X((2, 2, 3, 3, 3)), X((1, 2, 1, 1, 1)), X((1,))),
    S(X((2, 2, 3, 3)), X((1, 2, 3, 3))),
]
BACK_ONE = [
    S(X((2, 3, 4)), X((3, 2, 3)), X((2,))),
    S(X((2, 4, 4)), X((4, 1, 3)), None, 2, 1, 1, 2, 2),
    S(X((3, 4)), X((3, 2, 2)), stride=3),
    S(X((2, 3, 4)), X((3, 2, 3)), output_padding=1),
    S(X((2, 3, 4)), X((2, 2, 3))),
]
BACK_TWO = [
    S(X((2, 3, 3, 4)), X((3, 2, 3, 2)), X((2,))),
    S(X((2, 4, 3, 2)), X((4, 3, 3, 3)), X((6,)), (2, 1), (1, 0), (1, 0), 2),
    S(X((2, 2, 3, 3)), X((2, 3, 2, 3)), stride=3, dilation=2, output_padding=2),
    S(X((3, 3, 3)), X((3, 2, 2, 2)), X((2,)), stride=2),
    S(X((2, 3, 3, 3)), X((3, 2, 1, 1)), stride=2),
    S(X((2, 3, 3, 3)), X((3, 1, 3, 3)), padding=1, groups=3),
    S(X((2, 3, 3, 3)), X((3, 2, 3, 3)), X((3,))),
    S(X((2, 3, 3, 3)), X((3, 2, 3, 3)), stride=2, output_padding=(1, 2)),
    S(X((2, 3, 3, 3)), X((3, 2, 3, 3)), stride=2, output_padding=-1),
    S(X((2, 3, 3, 3)), X((4, 2, 3, 3))),
    S(X((2, 3, 3, 3)), X((3, 2, 3, 3)), groups=2),
    S(X((2, 3)), X((3, 2, 3, 3))),
]
BACK_THREE = [
    S(X((2, 2, 2, 3, 2)), X((2, 1, 2, 2, 2)), X((1,))),
    S(X((1, 2, 2, 3, 2)), X((2, 1, 2, 2, 2)), None, (2, 1, 2), 1, (1, 0, 0), 2),
    S(X((2, 2, 2, 2)), X((2, 1, 2, 2, 2)), stride=2),
    S(X((2, 2, 2, 2, 2)), X((2, 1, 2, 2, 2)), output_padding=1),
]

OPS: list[Op] = [
    *both("conv1d", ONE),
    *both("conv2d", TWO),
    *both("conv3d", THREE),
    *both("conv_transpose1d", BACK_ONE),
    *both("conv_transpose2d", BACK_TWO),
    *both("conv_transpose3d", BACK_THREE),
    Op(
        "convolution",
        [
            S(X((2, 3, 5, 4)), X((2, 3, 3, 2)), X((2,)), [1, 1], [0, 1], [1, 1], False, [0, 0], 1),
            S(X((2, 4, 5)), X((4, 1, 3)), None, [2], [1], [1], True, [1], 2),
            S(X((2, 3, 5, 4)), X((2, 3, 3, 2)), X((2,)), [1], [1], [1], False, [0], 1),
            S(X((4, 5)), X((4, 1)), None, [2], [1], [1], True, [1], 2),
            S(X((2, 3, 5)), X((2, 3, 3)), None, 1, [0], [1], False, [0], 1),
        ],
        loose=LOOSE,
        only_dtypes=REAL[:-1],  # torch looks at a bool's bias later here than in conv2d
    ),
    Op(
        "conv_tbc",
        [
            S(X((5, 2, 3)), X((2, 3, 4)), X((4,)), 1),
            S(X((4, 2, 3)), X((3, 3, 2)), X((2,))),
            S(X((4, 2, 3)), X((3, 2, 2)), X((2,))),
            S(X((4, 2, 3)), X((3, 3, 2)), X((3,))),
            S(X((4, 2)), X((3, 3, 2)), X((2,))),
        ],
        loose=LOOSE,
        layouts=False,  # torch's wants a view of its input, and refuses some strides
    ),
    Op(
        "nn.functional.unfold",
        [
            S(X((2, 3, 4, 5)), (2, 3)),
            S(X((2, 3, 4, 5)), 2, 1, 1, 2),
            S(X((3, 5, 5)), kernel_size=(3, 2), dilation=(2, 1), padding=(1, 0), stride=(1, 2)),
            S(X((1, 1, 4, 4)), 5),
            S(X((1, 1, 4, 4)), 0),
            S(X((1, 1, 4, 4)), 2, 0),
            S(X((1, 1, 4, 4)), 2, 1, -1),
            S(X((1, 1, 4, 4)), 2, 1, 0, 0),
            S(X((1, 1, 4, 4)), (2, 2, 2)),
            S(X((4, 4)), 2),
        ],
    ),
    Op(
        "nn.functional.fold",
        [
            S(X((2, 12, 6)), (3, 4), (2, 2)),
            S(X((2, 8, 9)), (4, 4), 2, 1, 1, 2),
            S(
                X((8, 6)),
                output_size=(4, 5),
                kernel_size=(2, 2),
                dilation=(2, 1),
                padding=(1, 0),
                stride=(2, 2),
            ),
            S(X((1, 7, 9)), (4, 4), 2),
            S(X((1, 8, 8)), (4, 4), 2),
            S(X((1, 8, 9)), (4, 4, 4), 2),
            S(X((1, 8, 9)), 4, 0),
            S(X((1, 8, 9)), -4, 2),
            S(X((8,)), 4, 2),
        ],
    ),
]
