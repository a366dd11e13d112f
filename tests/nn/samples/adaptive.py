"""The adaptive softmax."""

from tests.nn.record import B, Layer
from tests.ops.record import S, X
from tests.ops.samples.nn_loss import classes

LAYERS = [
    Layer(
        "AdaptiveLogSoftmaxWithLoss",
        [
            B(16, 10, [3, 6]).on(
                S(X((4, 16)), classes(0, 4, 9, 2)), S(X((2, 16)), classes(5, 7)), S(X((16,)), classes(1))
            ),
            B(16, 10, cutoffs=[2], div_value=2.0, head_bias=True).on(S(X((3, 16)), classes(0, 1, 9))),
        ],
        bad=[
            B(16, 10, []),
            B(16, 10, [6, 3]),
            B(16, 10, [3, 10]),
            B(16, 10, [3, 3]),
            B(16, 10, [2.5]),
            B(16, 10, [3]).on(
                S(X((2, 16)), classes(0, 10)),
                S(X((2, 16)), classes([0])),
                S(X((16,)), classes([0] * 16)),
                S(X((2, 16)), classes(0)),
                S(X((2, 16)), classes([[0, 1]])),
            ),
        ],
    )
]
