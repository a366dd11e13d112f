"""Whole training steps of the networks people meet in tutorials, and the parts they are made of."""

from benchmarks import models
from benchmarks.rows import add, row


def step_of(lib, model, optimizer, inputs, targets):
    """A training step with cross-entropy: what a loop's body does."""
    loss_of = lib.nn.CrossEntropyLoss()

    def step():
        optimizer.zero_grad()
        out = model(inputs)
        loss_of(out.reshape(-1, out.shape[-1]), targets).backward()
        optimizer.step()

    return step


def images(lib, batch):
    """Random images and labels."""
    return lib.randn(batch, 3, 32, 32), lib.randint(0, 10, (batch,))


def lenet(batch):
    def prepare(lib):
        model = models.lenet(lib.nn)
        optimizer = lib.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
        return step_of(lib, model, optimizer, *images(lib, batch))

    return prepare


add("training", "lenet_batch_4", lenet(4))
add("training", "lenet_batch_128", lenet(128), memory=True)


@row("training", memory=True)
def resnet18_batch_8(lib):
    model = models.resnet18(lib.nn)
    optimizer = lib.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
    return step_of(lib, model, optimizer, *images(lib, 8))


@row("training")
def gpt_two_blocks(lib):
    model = models.gpt(lib)
    optimizer = lib.optim.AdamW(model.parameters(), lr=3e-4)
    tokens = lib.randint(0, 256, (8, 64))
    return step_of(lib, model, optimizer, tokens, tokens.reshape(-1))


@row("training")
def lstm_two_layers(lib):
    model = models.language_lstm(lib)
    optimizer = lib.optim.SGD(model.parameters(), lr=0.1)
    tokens = lib.randint(0, 1000, (35, 20))
    return step_of(lib, model, optimizer, tokens, tokens.reshape(-1))


@row("training")
def resnet18_inference(lib):
    model = models.resnet18(lib.nn).eval()
    x, _ = images(lib, 4)

    def run():
        with lib.no_grad():
            return model(x)

    return run


def optimizer_step(name, shapes, **options):
    def prepare(lib):
        params = [lib.nn.Parameter(lib.randn(*shape)) for shape in shapes]
        for p in params:
            p.grad = lib.randn(*p.shape)
        return getattr(lib.optim, name)(params, lr=1e-5, **options).step

    return prepare


LENET = [(6, 3, 5, 5), (6,), (16, 6, 5, 5), (16,), (120, 400), (120,), (84, 120), (84,), (10, 84), (10,)]
add("training", "adam_1M_parameters", optimizer_step("Adam", [(1000, 1000)]))
add("training", "sgd_1M_parameters", optimizer_step("SGD", [(1000, 1000)], momentum=0.9))
add("training", "adam_of_lenet", optimizer_step("Adam", LENET))
add("training", "sgd_of_lenet", optimizer_step("SGD", LENET))
add("training", "muon", optimizer_step("Muon", [(128, 512)] * 4))


@row("training")
def module_call(lib):
    """What a Module costs around its forward."""
    model = lib.nn.Sequential(*[lib.nn.Identity() for _ in range(20)])
    x = lib.ones(1)
    return lambda: model(x)
