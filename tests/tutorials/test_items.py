"""What a reader of PyTorch's first tutorials looks for, and the cell that has it: every sentence of four texts.

Each row is an item, the notebook, and a phrase that stands in one of its cells. A phrase that is lost, with its cell or
by a change of words, fails here: teach the item elsewhere, then change its row.
"""

import functools
import json

import pytest

from tests.tutorials.cells import NOTEBOOKS

TENSORS, AUTOGRAD, NETWORK = "01_tensors", "02_autograd", "03_one_network_six_times"
CLASSIFIER, DEVICES, EXTENDING = "06_a_classifier", "13_devices", "16_extending"
PROCESSES, SAVING = "14_several_processes", "15_saving_and_exchanging"
DEBUGGING, FINE_TUNING = "08_debugging", "11_fine_tuning"

# A first hour: tensors, autograd, a network, a classifier, several devices.
BLITZ = [
    ("tensors, for a GPU", TENSORS, "To numpy's array it adds two things: it can be on a GPU"),
    ("much like an ndarray", TENSORS, "a numpy array keeps its own type"),
    ("empty takes memory as it is", TENSORS, "`empty` takes memory as it is"),
    ("rand", TENSORS, "torch.rand(2, 3)"),
    ("zeros of whole numbers", TENSORS, "dtype=torch.long"),
    ("a tensor from data", TENSORS, "`torch.tensor` copies what you give it"),
    ("new_ones takes over type and device", TENSORS, "like.new_ones(3)"),
    ("like another, with a type of its own", TENSORS, "torch.zeros_like(like, dtype=torch.long)"),
    ("size()", TENSORS, "`x.size()` is `x.shape`"),
    ("Size is a tuple", TENSORS, "a `Size`, which is a tuple"),
    ("x + y", TENSORS, "`left + right`"),
    ("torch.add(x, y)", TENSORS, "`torch.add(left, right)`"),
    ("add with out=", TENSORS, "torch.add(left, right, out=result)"),
    ("add_", TENSORS, "`add_` adds to it"),
    ("copy_ and t_ change the tensor", TENSORS, "`copy_` takes over the values of another one, `t_`"),
    ("indices as in numpy", TENSORS, "grid[:, 1]"),
    ("view", TENSORS, "`view` reads the same twelve as three rows of four"),
    ("view(-1, 8)", TENSORS, "`-1` is inferred from the others"),
    ("item() is a Python number", TENSORS, "`item()` makes a Python number"),
    ("numpy() shares memory", TENSORS, "`from_numpy` and `.numpy()` share"),
    ("from_numpy shares, in float64", TENSORS, "numpy's usual type is `float64`"),
    ("which tensors numpy takes", TENSORS, "`int8` too, but for `bfloat16`"),
    ("is_available, cuda:0", DEVICES, '"cuda:0" if torch.cuda.is_available() else "cpu"'),
    ("ones_like on a device", DEVICES, 'torch.ones_like(x, device="cuda:1")'),
    ("x.to(device)", DEVICES, "`to` copies a tensor to a device"),
    ("device and type in one to()", TENSORS, '.to("cpu", torch.double)'),
    ("autograd differentiates all operations", AUTOGRAD, "each operation leaves a node behind"),
    ("defined by running", AUTOGRAD, "so each pass may be another one"),
    ("requires_grad=True", AUTOGRAD, "`requires_grad=True` marks a tensor"),
    ("backward() fills .grad", AUTOGRAD, "adds the result to `.grad` of each leaf"),
    ("detach()", AUTOGRAD, "`x.detach()` is the same memory, seen as a constant"),
    ("no_grad for evaluation", AUTOGRAD, "Use it for updates and for evaluation"),
    ("the graph has no cycles", AUTOGRAD, "and it has no cycles"),
    ("a leaf has no grad_fn", AUTOGRAD, "w is a leaf, made by"),
    ("a scalar needs no argument", AUTOGRAD, "`backward()` takes that when you give none"),
    ("a vector for anything larger", AUTOGRAD, "For anything larger you must say which vector"),
    ("grad_fn of a result", AUTOGRAD, "Everything computed from it carries a `grad_fn`"),
    ("a result prints its grad_fn", AUTOGRAD, "print(loss)"),
    ("requires_grad_()", AUTOGRAD, "by `x.requires_grad_()`; the default is False"),
    (
        "backward() is backward(tensor(1.0))",
        AUTOGRAD,
        "`loss.backward()` is `loss.backward(torch.tensor(1.0))`",
    ),
    ("a gradient by hand", AUTOGRAD, r"\frac{\partial L}{\partial w_i} = 2"),
    ("the Jacobian matrix", AUTOGRAD, r"J = \begin{pmatrix}"),
    ("vector-Jacobian product", AUTOGRAD, "**vector-Jacobian product**"),
    ("the chain rule as a formula", AUTOGRAD, r"$v^\top J = \partial\,\text{loss} / \partial x$"),
    ("doubled until its norm is 1000", AUTOGRAD, "while y.detach().norm() < 1000"),
    ("nn builds on autograd", NETWORK, "the backward pass comes from the graph"),
    ("a Module has layers and a forward", CLASSIFIER, "class LeNet(nn.Module):"),
    ("the six steps of a training", NETWORK, "Every training has the same six steps"),
    ("weight - learning_rate * gradient", NETWORK, "`weight = weight - learning_rate * gradient`"),
    ("LeNet", CLASSIFIER, "self.conv1 = nn.Conv2d(3, 6, 5)"),
    ("super(Net, self)", AUTOGRAD, "`super(Net, self).__init__()`"),
    ("max_pool2d of a pair or a number", CLASSIFIER, "`F.max_pool2d(x, (2, 2))`"),
    ("view(-1, features)", CLASSIFIER, "`x.view(-1, 16 * 5 * 5)`"),
    ("print(net)", NETWORK, "print(net)"),
    ("only forward is written", NETWORK, "Only `forward` is written"),
    ("parameters()", NETWORK, "parameters_of_net = list(net.parameters())"),
    ("backward of a vector", AUTOGRAD, "y.backward(torch.tensor([1.0, 10.0, 100.0]))"),
    ("networks take batches: unsqueeze(0)", TENSORS, "a single sample is made a batch of one"),
    ("a loss takes output and target", NETWORK, "A loss function takes the output and the target"),
    ("next_functions", AUTOGRAD, "`next_functions` of a node"),
    ("the chain from the loss to the input", CLASSIFIER, "reads from the loss back to the first layer"),
    ("gradients accumulate", AUTOGRAD, "`.grad` is added to as well"),
    ("zero_grad before backward", NETWORK, "optimizer.zero_grad()"),
    ("gradients looked at", NETWORK, "A parameter is shown together with its gradient"),
    ("data.sub_", AUTOGRAD, "`w.data.sub_(...)`"),
    ("the optimizers", NETWORK, "`Adagrad` and `RMSprop` divide"),
    ("zero_grad, loss, backward, step", NETWORK, "And this is the training loop"),
    ("zero_grad is called by hand", DEBUGGING, "Clear the gradients in every step"),
    ("CIFAR10, MNIST, ImageNet", CLASSIFIER, "and ImageNet as an `ImageFolder`"),
    ("the steps to a classifier", CLASSIFIER, "load, normalise, train while you watch"),
    ("datasets and transforms", CLASSIFIER, "from vistorch.vision import datasets, transforms"),
    ("ToTensor and Normalize", CLASSIFIER, "`ToTensor` makes bytes into numbers from 0 to 1"),
    ("download=True", CLASSIFIER, "`download=True` gets them"),
    ("DataLoader with num_workers", CLASSIFIER, "With `num_workers=2` two processes load"),
    ("names of classes", CLASSIFIER, "classes = train.classes"),
    ("pictures shown", CLASSIFIER, "with the normalisation undone"),
    ("next(iter(loader))", AUTOGRAD, "`next(iter(loader))`"),
    ("MaxPool2d as a layer", CLASSIFIER, "`nn.MaxPool2d(2, 2)`"),
    ("cross entropy", CLASSIFIER, "the **cross entropy** is minus the logarithm"),
    ("momentum", NETWORK, "**Momentum** goes on in the direction of earlier steps"),
    ("the running loss", CLASSIFIER, "the **running loss**"),
    ("enumerate(loader, 0)", CLASSIFIER, "enumerate(train_batches, 0)"),
    (
        "tested on pictures never seen",
        CLASSIFIER,
        "Only pictures that the network has never seen can show that",
    ),
    ("max gives value and index", CLASSIFIER, "`torch.max(outputs, 1)` gives both"),
    ("accuracy", CLASSIFIER, "accuracy = (confusion.diagonal().sum() / confusion.sum()).item()"),
    ("accuracy of each class", CLASSIFIER, "The overall figure hides the classes"),
    ("(predicted == labels).squeeze()", CLASSIFIER, "right = (predicted == torch.tensor([1, 2])).squeeze()"),
    ("net.to(device)", DEVICES, "moves every parameter and buffer"),
    ("each batch goes to the device", DEVICES, "sends the network and each batch there"),
    ("why a small network is no faster", DEVICES, "Not for a network as small as this one"),
    ("a tensor's to() returns a copy", DEVICES, "while `x.to(device)` leaves `x` alone and returns a copy"),
    ("one device unless asked", DEVICES, "One device is used unless you ask for more"),
    ("DataParallel", DEVICES, "`nn.DataParallel` cuts a batch along its first dimension"),
    ("a Dataset of one's own", PROCESSES, "class Squares(Dataset):"),
    ("the sizes that forward sees", DEVICES, "layer notes what comes by"),
    ("device_count()", DEVICES, "if torch.cuda.device_count() < 4"),
    ("30 samples: 8, 8, 8, 6", DEVICES, "Three parts have 8 samples"),
    ("DataParallel printed", DEVICES, "print(nn.DataParallel(nn.Linear(6, 1)))"),
    ("outputs are joined", DEVICES, "joins the outputs on the first device"),
]

# Notes for learners: tensors, autograd, what runs where.
NOTES = [
    ("backpropagation", AUTOGRAD, "which is backpropagation"),
    ("scalar, vector, matrix, image, video", TENSORS, "a batch of videos"),
    ("a data set of images has 4 axes", TENSORS, "samples × channels × height × width"),
    ("the order of the axes", TENSORS, "an image: channels × height × width"),
    ("rand is between 0 and 1", TENSORS, "`rand` draws evenly from 0 up to, but not including, 1"),
    ("zeros of whole numbers", TENSORS, "torch.zeros_like(like, dtype=torch.long)"),
    ("which type a tensor gets", TENSORS, "integers become `int64` and the others `float32`"),
    ("size() or shape", TENSORS, "`x.size()` is `x.shape`"),
    ("Tensor(sizes)", TENSORS, "torch.Tensor(2, 3)"),
    ("tensor(data) copies", TENSORS, "`torch.tensor` copies what you give it"),
    ("ones and zeros", TENSORS, "torch.zeros(2, 3)"),
    ("eye", TENSORS, "torch.eye(3)"),
    ("arange", TENSORS, "torch.arange(0, 1, 0.25)"),
    ("linspace", TENSORS, "torch.linspace(-1, 1, 5"),
    ("randn is normal with mean 0", TENSORS, "with mean 0 and standard deviation 1"),
    ("normal", TENSORS, "torch.normal(2.0, 0.5"),
    ("randperm", TENSORS, "torch.randperm(6)"),
    ("three ways to add", TENSORS, "written in three ways"),
    ("the second column", TENSORS, "is the second column"),
    ("an index shares memory", TENSORS, "a transpose and a single row are all such readings"),
    ("clone copies", TENSORS, "`clone` always copies"),
    ("view shares memory", TENSORS, "No number is copied: a view keeps"),
    ("-1 is inferred", TENSORS, "`-1` is inferred from the others"),
    ("reshape may share", TENSORS, "is not: it may share"),
    ("clone, then view", TENSORS, "`x.clone().view(...)` is sure"),
    ("the type of item()", TENSORS, "type(result[0].item())"),
    ("broadcasting", TENSORS, "Two shapes are compared from their right ends"),
    ("gradients add up", AUTOGRAD, "from one `backward()` to the next"),
    ("no_grad", AUTOGRAD, "`with torch.no_grad():` records nothing that runs inside"),
    ("a power's node", AUTOGRAD, "loss = (out - y) ** 2"),
    ("grad.zero_()", AUTOGRAD, "in place by `w.grad.zero_()`"),
    ("a norm and a vector", AUTOGRAD, "its length, `norm()`, reaches 1000"),
    (".data shares memory", AUTOGRAD, "It shares the memory but not the count of writes"),
    ("x.data *= 100", AUTOGRAD, "`x.data *= 100` changes the value and leaves no node"),
    ("nvidia-smi", DEVICES, "`nvidia-smi` lists the cards"),
    ("what CUDA is", DEVICES, "**CUDA** is what NVIDIA's graphics cards are programmed with"),
    (".cuda()", DEVICES, "`.cuda()` is the short form of both"),
    ("CUDA_VISIBLE_DEVICES", DEVICES, "`CUDA_VISIBLE_DEVICES=0,1 python train.py`"),
    ("os.environ", DEVICES, 'os.environ["CUDA_VISIBLE_DEVICES"] = "0,1"'),
    ("a network cut in two", DEVICES, "That is **model parallelism**"),
    ("a layer cut in two", DEVICES, "Cutting a single layer in two is the third way"),
    ("data parallelism", DEVICES, "That was **data parallelism**"),
    ("one card", DEVICES, "picks a device once, at the top"),
    ("device_ids", DEVICES, "device_ids=[0, 1, 2, 3]"),
    ("DistributedDataParallel", PROCESSES, "`DistributedDataParallel` does this to the gradients"),
    ("TPU and NPU", DEVICES, "such as Google's **TPU** or the **NPU** of a phone"),
]

# The older reference: autograd, CUDA, extending, processes, files.
REFERENCE = [
    (
        "requires_grad is passed on",
        AUTOGRAD,
        "If one input of an operation requires a gradient, so does its output",
    ),
    ("Variable", AUTOGRAD, "`Variable(x)`"),
    ("a frozen body and a new head", FINE_TUNING, "Freeze all, then release the head"),
    ("pretrained=True", FINE_TUNING, "once `pretrained=True`"),
    ("volatile=True", AUTOGRAD, "`Variable(x, volatile=True)`"),
    (".volatile", AUTOGRAD, "`.volatile`"),
    ("creator", AUTOGRAD, "`y.creator`"),
    ("how history is kept", AUTOGRAD, "are those that it sends gradients to"),
    ("in place is discouraged", AUTOGRAD, "the gradient would be wrong"),
    ("writes are counted", AUTOGRAD, "Each tensor therefore counts its writes"),
    ("the current device", DEVICES, "`torch.cuda.current_device()` says which"),
    ("torch.cuda.device(1)", DEVICES, "`torch.cuda.device(1)` makes it another one for a block"),
    ("cuda.FloatTensor", DEVICES, "torch.cuda.FloatTensor([1, 2])"),
    ("get_device()", DEVICES, "there.get_device()"),
    ("devices do not mix", DEVICES, "Operands on two devices are refused"),
    ("pin_memory()", DEVICES, '`x.pin_memory().to("cuda", non_blocking=True)`'),
    ("async is non_blocking", AUTOGRAD, "`x.cuda(async=True)`"),
    ("DataLoader(pin_memory=True)", DEVICES, "`DataLoader(data, pin_memory=True)`"),
    ("threads share an interpreter", DEVICES, "all threads share one interpreter"),
    ("CUDA and fork", PROCESSES, "CUDA does not survive a fork"),
    ("a layer as a Function", NETWORK, "class Hidden(torch.autograd.Function):"),
    ("a Function is not called", AUTOGRAD, "`MyFunction()(x)`"),
    ("save_for_backward", NETWORK, "ctx.save_for_backward(x, w, h)"),
    ("needs_input_grad saves time", NETWORK, "to ask it only saves time"),
    ("None for no gradient", NETWORK, "None for one that needs none"),
    ("a function around apply", EXTENDING, "logcosh = LogCosh.apply"),
    ("gradcheck", EXTENDING, "`gradcheck` moves each input a little"),
    ("a module around it", EXTENDING, "class LeakyMemory(nn.Module):"),
    ("a Parameter is registered", EXTENDING, "a `Parameter` that is assigned to an attribute is registered"),
    ("register_parameter of None", NETWORK, '`register_parameter("bias", None)`'),
    ("register_buffer", NETWORK, "`register_buffer` keeps a tensor"),
    ("weights set to uniform numbers", NETWORK, "`nn.init.uniform_(layer.weight, -0.1, 0.1)`"),
    (
        "memory shared between processes",
        PROCESSES,
        "Tensors can be the exception: their memory can be shared",
    ),
    ("CUDA tensors sent", PROCESSES, "the receiver reads the sender's memory"),
    ("deadlocks", PROCESSES, "A **deadlock** is two that wait for each other"),
    ("buffers reused", PROCESSES, "send it back through a second queue"),
    ("Hogwild", PROCESSES, "In **Hogwild** training"),
    ("__main__", PROCESSES, 'under `if __name__ == "__main__":`'),
    ("share_memory()", PROCESSES, "net.share_memory()"),
    ("a state_dict is saved", SAVING, "build the network with the same code and fill it"),
    ("a whole module breaks", SAVING, "a whole module is tied to the classes and folders"),
]

# One network, from numpy to a module.
EXAMPLES = [
    ("a network of two layers", NETWORK, "The same two-layer network, written six ways"),
    ("in numpy", NETWORK, "## 1. By hand, in numpy"),
    ("numpy has no GPU", NETWORK, "a GPU multiplies large matrices fifty times as fast"),
    ("in tensors: mm, clamp, t", NETWORK, "`h = z.clamp(min=0)` forwards"),
    ("device= moves it", NETWORK, 'put `device="cuda"` into'),
    ("why not by hand", NETWORK, "for two hundred nobody does it by hand"),
    ("what is a node", AUTOGRAD, "because that is what the backward pass runs"),
    ("the update in no_grad", NETWORK, "update stands in `no_grad`"),
    ("weight.data in its place", AUTOGRAD, "`w.data -= lr * w.grad.data`"),
    ("loss.item()", NETWORK, "`loss.item()` is the number in it"),
    ("each operation is two functions", NETWORK, "`forward` computes and says what to keep, `backward` gets"),
    ("a Function of one's own", NETWORK, "A `Function` is a node that you write"),
    ("ctx keeps any object", EXTENDING, "ctx.decay = decay"),
    ("why nn", NETWORK, "gives them sensible first values"),
    ("MSELoss with a sum", NETWORK, 'With `reduction="sum"` it is their sum'),
    ("modules have __call__", NETWORK, "because `Module` has a `__call__`"),
    ("Adam", NETWORK, "`Adam` does both"),
    ("why more than SGD", NETWORK, "SGD takes the same step width for every parameter"),
    ("a Module of one's own", NETWORK, "class InPieces(nn.Module):"),
    ("depth at random", NETWORK, "whose depth is drawn at random in each pass"),
    ("shared weights add gradients", NETWORK, "that is all there is to sharing weights"),
    ("every hundredth loss", NETWORK, "if step % 100 == 0"),
    ("ReLU backwards is a mask", NETWORK, "`d_z[z < 0] = 0` backwards"),
]

SOURCES = {"blitz": BLITZ, "notes": NOTES, "reference": REFERENCE, "examples": EXAMPLES}
ITEMS = [
    (f"{source}: {item}", where, phrase) for source, rows in SOURCES.items() for item, where, phrase in rows
]


@functools.cache
def texts(notebook):
    cells = json.loads((NOTEBOOKS / f"{notebook}.ipynb").read_text(encoding="utf-8"))["cells"]
    return [" ".join("".join(cell["source"]).split()) for cell in cells]


def test_every_item_has_a_row():
    assert [len(rows) for rows in SOURCES.values()] == [99, 46, 41, 23]
    assert len({item for item, _, _ in ITEMS}) == 209


@pytest.mark.parametrize(("item", "notebook", "phrase"), ITEMS, ids=[row[0] for row in ITEMS])
def test_an_item_stands_where_a_reader_looks(item, notebook, phrase):
    assert any(phrase in text for text in texts(notebook)), f"nothing in {notebook} has: {phrase}"
