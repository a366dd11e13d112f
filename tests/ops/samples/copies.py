"""Records of views as copies and of pieces without views. Invariant: the same calls as those of the views."""

from tests.ops.record import Op, S, X

x4, x6, x23, x131, x232, x33 = X((4,)), X((6,)), X((2, 3)), X((1, 3, 1)), X((2, 3, 2)), X((3, 3))
# torch takes no names but its own, documents none, and its copies have out= without warnings of their own
OWN = {
    "names": "torch documents no names",
    "out": "torch's generated functions look at `out` in their own order",
}
SHARED = {"sharing": "ours never share memory", **OWN}
PARTS = {"grad_fn": False, "differs": OWN}
EACH = {
    "only_dtypes": ("float32", "float64", "int64"),
    "layouts": False,
    "variants": False,
    "differs": {
        "mixed": "torch has no such check",
        "bad_input": "torch looks at its arguments in another order",
        "mixed_devices": "there are no elements to hand out elsewhere",
        "device": "on the CPU alone",
        "strict": "on the CPU alone",
    },
}


def copy(name: str, *calls: tuple, **more) -> Op:
    """A record of a copying view."""
    return Op(name, [S(*call) for call in calls], differs=OWN, layouts=False, variants=False, **more)


OPS = [
    copy("view_copy", (x6, (2, 3)), (x6, (-1, 2)), (x6, (4,))),
    copy("as_strided_copy", (x6, (2, 2), (2, 1)), (x6, (2,), (2,), 1)),
    copy("permute_copy", (x23, (1, 0)), (x232, (2, 0, 1)), (x23, (0, 0))),
    copy("transpose_copy", (x23, 0, 1), (x232, -1, 0), (x23, 0, 2)),
    copy("t_copy", (x23,), (x4,), (x232,)),
    copy("select_copy", (x23, 0, 1), (x23, -1, -1), (x23, 0, 5)),
    copy("slice_copy", (x23,), (x23, 1, 0, 2), (x6, 0, 1, 6, 2), (x6, 0, -3)),
    copy("squeeze_copy", (x131,), (x131, 0), (x131, (0, 2))),
    copy("unsqueeze_copy", (x23, 0), (x23, -1), (x23, 5)),
    copy("expand_copy", (x4, (3, 4)), (x131, (2, 3, 2)), (x4, (3,))),
    copy("diagonal_copy", (x33,), (x23, 1), (x232, 0, 1, 2)),
    copy("unfold_copy", (x6, 0, 3, 1), (x23, 1, 2, 1)),
    Op("view_as_real_copy", [S(x4).only("complex")], differs=OWN, layouts=False, variants=False),
    Op(
        "view_as_complex_copy",
        [S(X((3, 2))).only("float").forward_only()],
        differs=OWN,
        layouts=False,
        variants=False,
    ),
    Op(
        "narrow_copy",
        [S(x23, 1, 1, 2), S(x23, 0, 0, 1), S(x23, 1, -2, 2).forward_only(), S(x23, 1, 0, 4)],
        differs=OWN,
        layouts=False,
        variants=False,
    ),
    Op("alias_copy", [S(x23)], grad_fn=False, differs=OWN),
    Op("detach_copy", [S(x23).forward_only()], grad_fn=False, differs={"gradient": "has none", **OWN}),
    *(
        Op(name, [S(*call) for call in calls], layouts=False, variants=False, **PARTS)
        for name, calls in (
            ("unbind_copy", ((x23,), (x23, 1))),
            ("split_copy", ((x6, 2), (x23, 2, 1))),
            ("split_with_sizes_copy", ((x6, (2, 4)), (x23, (1, 2), 1))),
        )
    ),
    *(
        Op(name, [S(*call) for call in calls], differs=SHARED, strides=False, layouts=False, variants=False)
        for name, calls in (
            ("unsafe_split", ((x6, 2), (x23, 2, 1))),
            ("unsafe_chunk", ((x6, 2), (x23, 2, 1))),
            ("unsafe_split_with_sizes", ((x6, (2, 4)), (x23, (1, 2), 1))),
        )
    ),
    Op("Tensor.apply_", [S(x23, abs)], fn=lambda L, x, f: x.clone().apply_(f), **EACH),
    Op("Tensor.map_", [S(x23, X((2, 3), seed=1), max)], fn=lambda L, x, y, f: x.clone().map_(y, f), **EACH),
    Op(
        "Tensor.map2_",
        [S(x4, X((4,), seed=1), X((4,), seed=2), max)],
        fn=lambda L, x, y, z, f: x.clone().map2_(y, z, f),
        **EACH,
    ),
    Op(
        "as_strided_scatter",
        [
            S(x6, X((2, 2), seed=1), (2, 2), (2, 1)),
            S(x6, X((2,), seed=1), (2,), (2,), 1),
            S(x6, x4, (2,), (1,)),
        ],
        # finite differences agree with ours
        differs=dict.fromkeys(
            ("gradient", "second", "strict"), "torch sends back what belongs to the other elements"
        ),
        grad_fn=False,
        layouts=False,
        variants=False,
    ),
]
