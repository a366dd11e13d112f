"""Single layers, forward and backward, at the sizes of the training rows."""

from benchmarks.rows import add, row


def layer(make, *shape, grad=True):
    def prepare(lib):
        module = make(lib.nn)
        x = lib.randn(*shape, requires_grad=grad)

        def run():
            y = module(x)
            y = y[0] if isinstance(y, tuple) else y
            y.backward(weights_like(lib, y))
            x.grad = None
            for p in module.parameters():
                p.grad = None

        return run

    return prepare


def weights_like(lib, y, kept={}):  # noqa: B006  one gradient per shape, not a fresh one per call
    key = lib.__name__, tuple(y.shape)
    if key not in kept:
        kept[key] = lib.randn(*y.shape)
    return kept[key]


LAYERS = {
    "conv3x3_64_32": (lambda nn: nn.Conv2d(64, 64, 3, padding=1, bias=False), (8, 64, 32, 32)),
    "conv3x3_512_4": (lambda nn: nn.Conv2d(512, 512, 3, padding=1, bias=False), (8, 512, 4, 4)),
    "conv3x3_stride2": (lambda nn: nn.Conv2d(64, 128, 3, 2, 1, bias=False), (8, 64, 32, 32)),
    "conv1x1": (lambda nn: nn.Conv2d(256, 64, 1, bias=False), (8, 256, 16, 16)),
    "conv5x5_lenet": (lambda nn: nn.Conv2d(3, 6, 5), (128, 3, 32, 32)),
    "conv_depthwise": (lambda nn: nn.Conv2d(64, 64, 3, padding=1, groups=64, bias=False), (8, 64, 32, 32)),
    "conv_transpose": (lambda nn: nn.ConvTranspose2d(64, 32, 4, 2, 1), (8, 64, 16, 16)),
    "batch_norm": (lambda nn: nn.BatchNorm2d(64), (8, 64, 32, 32)),
    "layer_norm": (lambda nn: nn.LayerNorm(128), (8, 64, 128)),
    "max_pool": (lambda nn: nn.MaxPool2d(2, 2), (128, 6, 28, 28)),
    "avg_pool": (lambda nn: nn.AvgPool2d(2, 2), (128, 6, 28, 28)),
    "adaptive_avg_pool": (lambda nn: nn.AdaptiveAvgPool2d(1), (8, 512, 4, 4)),
    "relu": (lambda nn: nn.ReLU(), (8, 64, 32, 32)),
    "gelu": (lambda nn: nn.GELU(), (8, 64, 512)),
    "softmax": (lambda nn: nn.Softmax(-1), (8, 4, 64, 64)),
    "dropout": (lambda nn: nn.Dropout(0.1), (8, 64, 128)),
    "linear": (lambda nn: nn.Linear(400, 120), (128, 400)),
    "linear_small": (lambda nn: nn.Linear(84, 10), (4, 84)),
    "lstm": (lambda nn: nn.LSTM(200, 200), (35, 20, 200)),
    "gru": (lambda nn: nn.GRU(200, 200), (35, 20, 200)),
    "transformer_encoder": (
        lambda nn: nn.TransformerEncoderLayer(128, 4, 512, batch_first=True),
        (8, 64, 128),
    ),
    "upsample_bilinear": (
        lambda nn: nn.Upsample(scale_factor=2, mode="bilinear"),
        (8, 16, 32, 32),
    ),
}
for name, (make, shape) in LAYERS.items():
    add("layers", name, layer(make, *shape))


@row("layers")
def layer_norm_wide(lib):
    norm, x = lib.nn.LayerNorm(768), lib.randn(512, 768)
    return lambda: norm(x)


@row("layers")
def layer_norm_small(lib):
    norm, x = lib.nn.LayerNorm(64), lib.randn(32, 64)
    return lambda: norm(x)


@row("layers")
def grid_sample(lib):
    x, grid = lib.randn(4, 8, 64, 64), 2 * lib.rand(4, 64, 64, 2) - 1
    return lambda: lib.nn.functional.grid_sample(x, grid, align_corners=False)


def loss(make_loss, shape, classes):
    def prepare(lib):
        criterion = make_loss(lib.nn)
        x = lib.randn(*shape, requires_grad=True)
        target = lib.randint(0, classes, shape[:1]) if classes else lib.rand(*shape)

        def run():
            criterion(x, target).backward()
            x.grad = None

        return run

    return prepare


add("layers", "cross_entropy_4x10", loss(lambda nn: nn.CrossEntropyLoss(), (4, 10), 10))
add("layers", "cross_entropy_128x10", loss(lambda nn: nn.CrossEntropyLoss(), (128, 10), 10))
add("layers", "cross_entropy_512x1000", loss(lambda nn: nn.CrossEntropyLoss(), (512, 1000), 1000))
add("layers", "mse_loss_128x100", loss(lambda nn: nn.MSELoss(), (128, 100), 0))
add("layers", "bce_with_logits_128x100", loss(lambda nn: nn.BCEWithLogitsLoss(), (128, 100), 0))


def embedding(lib):
    table = lib.nn.Embedding(10000, 256)
    index = lib.randint(0, 10000, (64, 35))

    def run():
        table(index).sum().backward()
        table.weight.grad = None

    return run


add("layers", "embedding_10000x256", embedding)
