"""Modules that hold modules or parameters; what they do beyond that is in test_containers.py."""

from collections import OrderedDict

from tests.nn.record import B, Layer, Of
from tests.ops.record import S, X

LAYERS = [
    Layer(
        "Sequential",
        [
            B(),
            B(Of(lambda L: L.nn.Linear(4, 3)), Of(lambda L: L.nn.Identity())).on(S(X((2, 4)))),
            B(Of(lambda L: OrderedDict(first=L.nn.Linear(4, 3), second=L.nn.Linear(3, 2)))).on(S(X((2, 4)))),
        ],
        bad=[B(3), B(Of(lambda L: L.nn.Linear(4, 3)), "x")],
    ),
    Layer(
        "ModuleList",
        [B(), B(Of(lambda L: [L.nn.Linear(4, 3), L.nn.Linear(4, 3), L.nn.Identity(), L.nn.Linear(4, 3)]))],
        bad=[B(3), B([3]), B().on(S(X((2,))))],
    ),
    Layer(
        "ModuleDict",
        [B(), B(Of(lambda L: {"b": L.nn.Linear(4, 3), "a": L.nn.Identity()}))],
        bad=[B(3), B([3]), B([(1, 2, 3)]), B({"a": 3}), B({"a.b": None}), B({"": None})],
    ),
    Layer(
        "ParameterList",
        [B(), B(Of(lambda L: [L.ones(2, 3), L.nn.Parameter(L.ones(())), "text"]))],
        bad=[B(3), B(Of(lambda L: L.ones(2))), B().on(S(X((2,))))],
    ),
    Layer(
        "ParameterDict",
        [B(), B(Of(lambda L: {"b": L.ones(2, 3), "a": L.nn.Parameter(L.ones(())), "c": 3}))],
        bad=[B(3), B([3]), B([(1, 2, 3)]), B(Of(lambda L: {1: L.ones(2)})), B().on(S(X((2,))))],
    ),
]
