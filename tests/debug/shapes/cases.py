"""Lines that fail because shapes do not fit, and what is to be said of them.

Invariant: a case is a line as a person writes it; what is expected is known without the code that draws.
"""

from vistorch import nn

NAMES = {
    "a": (3, 4), "b": (5, 6), "c": (4, 3), "v": (3,), "w": (5,), "t": (2, 3, 4), "u": (2, 5, 6), "s": (3, 4, 6),
    "image": (1, 1, 28, 28), "x": (2, 8), "row": (2, 3), "scores": (32, 10),
}  # fmt: skip


class Net(nn.Module):
    """A network whose last layer was made for other images."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 5)
        self.fc1 = nn.Linear(256, 120)

    def forward(self, x):
        """Classify."""
        x = self.conv1(x).relu()
        return self.fc1(x.flatten(1)).relu()


# line: [(name, shape, marks)], a part of the sentence, the module
CASES = {
    "a @ b": ([("a", (3, 4), (1,)), ("b", (5, 6), (0,))], "a has 4 columns, b has 5 rows", ""),
    "torch.mm(a, mat2=b)": ([("a", (3, 4), (1,)), ("b", (5, 6), (0,))], "a has 4 columns", ""),
    "a.matmul(w)": ([("a", (3, 4), (1,)), ("w", (5,), (0,))], "w has 5 entries", ""),
    "v @ c": ([("v", (3,), (0,)), ("c", (4, 3), (0,))], "v has 3 entries, c has 4 rows", ""),
    "v.dot(w)": ([("v", (3,), (0,)), ("w", (5,), (0,))], "same shape", ""),
    "torch.bmm(t, u)": ([("t", (2, 3, 4), (2,)), ("u", (2, 5, 6), (1,))], "t has 4 columns, u has 5 rows", ""),
    "torch.bmm(t, s)": ([("t", (2, 3, 4), (0,)), ("s", (3, 4, 6), (0,))], "t holds 2 matrices, s holds 3", ""),
    "t @ s": ([("t", (2, 3, 4), (0,)), ("s", (3, 4, 6), (0,))], "In dimension 0, t is 2 and s is 3", ""),
    "torch.addmm(v, row, b)": ([("row", (2, 3), (1,)), ("b", (5, 6), (0,))], "row has 3 columns", ""),
    "torch.einsum('ij,jk->ik', a, b)": ([("a", (3, 4), (1,)), ("b", (5, 6), (0,))], "Subscript j", ""),
    "a + c": ([("a", (3, 4), (1,)), ("c", (4, 3), (1,))], "In dimension 1, a is 4 and c is 3", ""),
    "a * w": ([("a", (3, 4), (1,)), ("w", (5,), (0,))], "a is 4 and w is 5", ""),
    "a - t[:, :, :2]": ([("a", (3, 4), (1,)), ("t[:, :, :2]", (2, 3, 2), (2,))], "a is 4", ""),
    "v += row": ([("v", (3,), ()), ("result", (2, 3), (0,))], "must fit into its memory", ""),
    "a < c": ([("a", (3, 4), (1,)), ("c", (4, 3), (1,))], "they must be equal", ""),
    "torch.where(v > 0, w, v)": ([("v > 0", (3,), (0,)), ("w", (5,), (0,))], "is 3 and w is 5", ""),
    "v.masked_fill(w > 0, 1.0)": ([("w > 0", (5,), (0,)), ("v", (3,), (0,))], "In dimension 0", ""),
    "torch.cat([a, c])": ([("a", (3, 4), (1,)), ("c", (4, 3), (1,))], "only dimension 0 may differ", ""),
    "torch.cat((row, a, t[0]), dim=1)": ([("row", (2, 3), (0,)), ("a", (3, 4), (0,))], "row is 2 and a is 3", ""),
    "torch.stack([a, c])": ([("a", (3, 4), (0, 1)), ("c", (4, 3), (0, 1))], "must have the same shape", ""),
    "F.cross_entropy(scores, y)": ([("scores", (32, 10), (0,)), ("y", (16,), (0,))], "32 samples, y has 16", ""),
    "nn.CrossEntropyLoss()(scores, y)": (
        [("scores", (32, 10), (0,)), ("y", (16,), (0,))], "y has 16", "CrossEntropyLoss"),
    "F.binary_cross_entropy_with_logits(a[:, :1], v)": (
        [("a[:, :1]", (3, 1), (0, 1)), ("v", (3,), (0,))], "must have the same shape", ""),
    "row.view(4, 2)": ([("row", (2, 3), (0, 1)), ("asked for", (4, 2), (0, 1))], "row has 6 elements, 4 × 2", ""),
    "row.reshape(5, -1)": ([("row", (2, 3), (0, 1)), ("asked for", (5, -1), (0, 1))], "no multiple of the 5", ""),
    "v.expand(2, 4)": ([("v", (3,), (0,)), ("asked for", (2, 4), (1,))], "v has 3 where 4 are needed", ""),
    "row.expand_as(c)": ([("row", (2, 3), (0,)), ("c", (4, 3), (0,))], "row has 2 where 4", ""),
    "net(x)": ([("input of net[1]", (2, 16), (1,)), ("net[1].weight.T", (84, 10), (0,))],
               "net[1] takes 84 features, 16 arrive", "net[1] Linear 84 → 10"),
    "F.linear(row, b)": ([("row", (2, 3), (1,)), ("b.T", (6, 5), (0,))], "row has 3 columns, b.T has 6 rows", ""),
    "model(torch.zeros(2, 3, 32, 32))": (
        [("x.flatten(1)", (2, 4704), (1,)), ("model.fc1.weight.T", (256, 120), (0,))],
        "model.fc1 takes 256 features, 4704 arrive", "model.fc1 Linear 256 → 120"),
    "model(image)": ([("x", (1, 1, 28, 28), (1,)), ("model.conv1.weight", (6, 3, 5, 5), (1,))],
                     "model.conv1 takes 3 channels, 1 arrives", "model.conv1 Conv2d 3 → 6"),
    "F.conv2d(image[..., :3], k)": ([("image[..., :3]", (1, 1, 28, 3), (3,)), ("k", (8, 1, 5, 5), (3,))],
                                    "kernel is 5 × 5", ""),
    "table(x)": ([("x", (2, 8), ()), ("table.weight", (5, 3), ())], "x holds float32", "table Embedding 5 → 3"),
    "nn.LayerNorm(5)(row)": ([("row", (2, 3), (1,)), ("normalized_shape", (5,), (0,))], "last side of 5", "LayerNorm"),
    "nn.BatchNorm1d(5)(row)": ([("row", (2, 3), (1,)), ("BatchNorm1d.running_mean", (5,), (0,))],
                               "takes 5 channels, 3 arrive", "BatchNorm1d"),
    "nn.BatchNorm2d(5)(row)": ([("row", (2, 3), (0, 1))], "takes 4D input, row has 2 dimensions", "BatchNorm2d"),
    "nn.LSTM(10, 4)(t)": ([("t", (2, 3, 4), (2,)), ("taken", (2, 3, 10), (2,))], "takes 10 features, 4", "LSTM 10 → 4"),
    "nn.GRU(4, 5)(t, t[:1])": ([("t[:1]", (1, 3, 4), (2,)), ("expected", (1, 3, 5), (2,))], "t[:1]", "GRU 4 → 5"),
    "w[v > 0]": ([("w", (5,), (0,)), ("v > 0", (3,), (0,))], "masks 3 entries where w has 5", ""),
    "w[i, 0]": ([("w", (5,), ()), ("i", (2,), ())], "too many indices", ""),
    "w[:3] = v[:2]": ([("v[:2]", (2,), (0,)), ("asked for", (3,), (0,))], "has 2 where 3 are needed", ""),
    "w[i] = v": ([("chosen", (2,), (0,)), ("v", (3,), (0,))], "the value must fit", ""),
    "a[i, j]": ([("i", (2,), (0,)), ("j", (3,), (0,))], "side by side", ""),
    "v[7]": ([("v", (3,), (0,))], "its last index is 2, asked for is 7", ""),
    "torch.linalg.solve(t[0, :, :3], c)": (
        [("t[0, :, :3]", (3, 3), (0,)), ("c", (4, 3), (0,))], "has 3 rows, c has 4", ""),
    "torch.inverse(row)": ([("row", (2, 3), (0, 1))], "must be square", ""),
    "torch.tensordot(row, b, 1)": ([("row", (2, 3), (1,)), ("b", (5, 6), (0,))], "3 in dimension -1", ""),
    "torch.cdist(row, a)": ([("row", (2, 3), (1,)), ("a", (3, 4), (1,))], "row has 3 columns, a has 4", ""),
    "w.split([2, 2])": ([("w", (5,), (0,))], "add up to 4", ""),
    "row.unflatten(1, (2, 2))": ([("row", (2, 3), (1,)), ("asked for", (2, 2), (0, 1))], "is 3, 2 × 2 asks for 4", ""),
    "a @ whole": ([("a", (3, 4), ()), ("whole", (4, 4), ())], "a is float32, whole is int64", ""),
    "p.mul(2).backward(v)": ([("p.mul(2)", (5,), (0,)), ("v", (3,), (0,))], "must have the same shape", ""),
    "table.load_state_dict({'weight': a})": (
        [("weight in the file", (3, 4), (0, 1)), ("weight in the model", (5, 3), (0, 1))], "must fit",
        "table Embedding 5 → 3"),
}  # fmt: skip
