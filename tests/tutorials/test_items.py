"""What a reader of PyTorch's first tutorials looks for, and the cell that has it.

Each row is an item, the notebook, and a phrase that stands in one of its cells. A phrase that is lost, with its cell or
by a change of words, fails here: teach the item elsewhere, then change its row.
"""

import json

import pytest

from tests.tutorials.cells import NOTEBOOKS

TENSORS, AUTOGRAD, NETWORK = "01_tensors", "02_autograd", "03_one_network_six_times"
ITEMS = [
    ("empty: memory as it is", TENSORS, "`empty` takes memory as it is"),
    ("zeros of whole numbers", TENSORS, "dtype=torch.long"),
    ("new_ones takes over type and device", TENSORS, "like.new_ones(3)"),
    ("zeros_like with a type of its own", TENSORS, "torch.zeros_like(like, dtype=torch.long)"),
    ("size() is the shape", TENSORS, "`x.size()` is `x.shape`"),
    ("Size is a tuple", TENSORS, "a `Size`, which is a tuple"),
    ("add as a function", TENSORS, "torch.add(left, right)"),
    ("out=", TENSORS, "torch.add(left, right, out=result)"),
    ("three ways to add", TENSORS, "written in three ways"),
    ("the second column", TENSORS, "grid[:, 1]"),
    ("view(-1, n)", TENSORS, "`-1` is inferred from the others"),
    ("item() is a Python number", TENSORS, "`item()` makes a Python number"),
    ("type and device in one to()", TENSORS, '.to("cpu", torch.double)'),
    ("a batch of one", TENSORS, "a single sample is made a batch of one"),
    ("scalar, vector, matrix, image, video", TENSORS, "a batch of videos"),
    ("an image has 3 axes, a data set of images 4", TENSORS, "channels × height × width"),
    ("Tensor(sizes)", TENSORS, "torch.Tensor(2, 3)"),
    ("eye", TENSORS, "torch.eye(3)"),
    ("randn is normal with mean 0", TENSORS, "with mean 0 and standard deviation 1"),
    ("normal", TENSORS, "torch.normal(2.0, 0.5"),
    ("randperm", TENSORS, "torch.randperm(6)"),
    ("the Jacobian as a formula", AUTOGRAD, r"J = \begin{pmatrix}"),
    ("vector-Jacobian product", AUTOGRAD, "**vector-Jacobian product**"),
    ("the chain rule as a formula", AUTOGRAD, r"$v^\top J = \partial\,\text{loss} / \partial x$"),
    ("next_functions", AUTOGRAD, "`next_functions` of a node"),
    ("a backward pass on paper", NETWORK, r"\frac{\partial L}{\partial W_1} = x^\top"),
    ("the derivative of ReLU is a mask", NETWORK, "would be a mask, 1 where"),
    ("why not by hand", NETWORK, "for two hundred nobody does it by hand"),
    ("the six steps of a training", NETWORK, "Every training has the same six steps"),
    ("weight = weight - learning_rate * gradient", NETWORK, "`weight = weight - learning_rate * gradient`"),
    ("epoch", NETWORK, "is an **epoch**"),
    ("momentum", NETWORK, "**Momentum** goes on in the direction of earlier steps"),
    ("Nesterov, Adagrad, RMSprop", NETWORK, "`Adagrad` and `RMSprop` divide"),
    ("why Adam", NETWORK, "`Adam` does both"),
    ("modules have __call__", NETWORK, "because `Module` has a `__call__`"),
    ("register_buffer", NETWORK, "`register_buffer` keeps a tensor"),
    ("register_parameter of None", NETWORK, '`register_parameter("bias", None)`'),
]


@pytest.mark.parametrize(("item", "notebook", "phrase"), ITEMS, ids=[row[0] for row in ITEMS])
def test_an_item_stands_where_a_reader_looks(item, notebook, phrase):
    cells = json.loads((NOTEBOOKS / f"{notebook}.ipynb").read_text(encoding="utf-8"))["cells"]
    texts = [" ".join("".join(cell["source"]).split()) for cell in cells]
    assert any(phrase in text for text in texts), f"nothing in {notebook} has: {phrase}"
