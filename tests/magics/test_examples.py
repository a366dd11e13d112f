"""What `%vt command?` shows as examples, typed as it stands: every line runs and says something.

A command that comes later is run too, in the same notebook; what its examples name has to be in it.
"""

import sys

import pytest

from vistorch import vt
from vistorch.vt.help import help_of

NOTEBOOK = """
import vistorch
from vistorch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 2, 3)
        self.layer2 = nn.Sequential(nn.Linear(8, 4), nn.ReLU())
        self.fc1 = nn.Linear(4, 3)

    def forward(self, image):
        return self.fc1(self.layer2(self.conv1(image).relu().flatten(1)))

vistorch.manual_seed(0)
model, images, labels = Net(), vistorch.rand(5, 1, 4, 4), vistorch.tensor([0, 1, 2, 0, 1])
optimizer = vistorch.optim.SGD(model.parameters(), lr=0.1)
x = vistorch.rand(2, 3, 4, requires_grad=True)
hidden, out = vistorch.rand(3), vistorch.rand(4)
x.square().sum().backward()
"""
TRAINING = """optimizer.zero_grad()
loss = nn.functional.cross_entropy(model(images), labels)
loss.backward()
optimizer.step()"""
LOSS = "loss = nn.functional.cross_entropy(model(images), labels)"
# What has to have happened before a command's examples make sense.
BEFORE = {
    "compare": [f"%%vt record before --save before.vtr\n{TRAINING}", f"%%vt record after\n{TRAINING}"],
    "device": ["vistorch.cuda.simulate(1)"],
    "watch": ["%vt ranks 1"],
    "export": ["%vt show model", "%vt show model.fc1.weight", "import os; os.mkdir('my figures')"],
}
FAILS = {"graph --last": "model(vistorch.ones(1, 1, 9, 9))"}


@pytest.fixture(autouse=True)
def no_breakpoint_or_rank_is_left():
    yield
    vt.break_(clear=True)
    vt.ranks("stop")


@pytest.mark.parametrize("command", vt.COMMANDS.values(), ids=lambda command: command.name)
def test_every_example_runs(command, type_in, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "torch"]:
        monkeypatch.delitem(sys.modules, name)  # other tests of this process have PyTorch itself
    for cell in [NOTEBOOK, *BEFORE.get(command.name, [])]:
        type_in(cell).result.raise_error()
    assert command.examples
    for line, _ in command.examples:
        assert f"vt {line}" in help_of(command)
        if line in FAILS:
            assert type_in(FAILS[line]).result.error_in_exec is not None
        type_in(LOSS).result.raise_error()
        typed = type_in(f"%vt {line}" if command.line else f"%%vt {line}\n{TRAINING}")
        typed.result.raise_error()
        assert (typed.out + typed.err).strip(), line  # the line of a watched loop goes where tqdm writes


@pytest.mark.parametrize("asked", ["%vt?", "%vt", *(f"%vt {name}?" for name in vt.COMMANDS)])
def test_help_is_shown_where_it_is_asked_for(asked, type_in):
    typed = type_in(asked)
    typed.result.raise_error()
    assert ("Examples:" in typed.out) == (asked not in ("%vt?", "%vt"))
    assert "vt show" in typed.out or asked.split()[1].rstrip("?") in typed.out
