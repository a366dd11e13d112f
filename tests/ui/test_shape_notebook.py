"""A cell that fails in JupyterLab and Notebook 7: the user's frames, then the shapes, drawn; in both themes."""

import pytest
from playwright.sync_api import expect

START = """%load_ext vistorch
import vistorch as torch
from vistorch import nn
import vistorch.nn.functional as F
features = nn.Sequential(nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())
net = nn.Sequential(features, nn.Linear(256, 120), nn.ReLU(), nn.Linear(84, 10))
images = torch.randn(32, 1, 32, 32)
scores, labels = torch.randn(32, 10), torch.zeros(16).long()
weights = torch.randn(5, 6)
"""
LINES = {
    "linear": ("logits = net(images)", "net[1] takes 256 features, 1176 arrive."),
    "matmul": ("scores @ weights", "scores has 10 columns, weights has 5 rows: they must be equal."),
    "broadcast": ("scores + weights", "In dimension 1, scores is 10 and weights is 6"),
    "channels": ("net(images.expand(32, 3, 32, 32))", "takes 1 channel, 3 arrive."),
    "cat": ("torch.cat([scores, weights])", "In dimension 1, scores is 10 and weights is 6"),
    "batch": ("F.cross_entropy(scores, labels)", "scores has 32 samples, labels has 16"),
    "view": ("weights.view(4, 8)", "weights has 30 elements, 4 × 8 asks for 32."),
    "kind": ("nn.Embedding(10, 4)(scores)", "scores holds float32, and indices must be int64 or int32"),
    "mask": ("labels[weights[:, 0] > 0]", "masks 5 entries where labels has 16."),
    "hidden": ("nn.GRU(10, 4)(scores[None], torch.zeros(1, 16, 4))", "expected is 1 × 32 × 4"),
}


@pytest.mark.parametrize("shown", ["light", "dark"])
def test_shape_errors(notebook, page, shoot, shown):
    nb = notebook(START, theme=shown)
    nb.run(0)
    for name, (line, sentence) in LINES.items():
        index = nb.execute(f"def train():\n    {line}\n\ntrain()", fails=True)
        out = nb.output(index)
        expect(out.locator(".vt-rp-verdict")).to_contain_text(sentence)
        expect(out.locator(".vt-sh-hit span").first).to_have_text(f"    {line}")
        said = out.inner_text()
        assert "hidden: type %tb to see" in said and "vistorch/nn/modules" not in said
        # the drawing stands below the traceback
        kinds = out.locator(".jp-OutputArea-output").evaluate_all(
            "all => all.map(one => one.dataset.mimeType)"
        )
        assert [kind.rpartition(".")[2] for kind in kinds] == ["stderr", "text/html"], kinds
        shoot(name, nb.cell(index))
    page.set_viewport_size({"width": 520, "height": 900})
    shoot("narrow")
    page.set_viewport_size({"width": 1280, "height": 1000})
