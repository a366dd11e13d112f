"""Files of tensors and of models, written and read, shared weights included, and what is refused."""

import hashlib
import os
import tempfile

import torch
from reporting import report
from safetensors import safe_open
from safetensors.torch import load, load_file, load_model, save, save_file, save_model
from torch import nn

torch.manual_seed(0)
folder = tempfile.mkdtemp()
path = os.path.join(folder, "all.safetensors")
kinds = """
float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool float8_e4m3fn float8_e5m2 uint16 uint32
""".split()
tensors = {kind: (torch.rand(3, 4) * 9).to(getattr(torch, kind)) for kind in kinds}
tensors["scalar"], tensors["empty"] = torch.tensor(1.5), torch.zeros(0, 3)
save_file(tensors, path, metadata={"format": "pt"})
with open(path, "rb") as file:
    report("bytes", hashlib.sha256(file.read()).hexdigest())
back = load_file(path)
for name in sorted(back):
    report(name, f"{back[name].dtype} {tuple(back[name].shape)} {torch.equal(back[name], tensors[name])}")
with safe_open(path, framework="pt", device="cpu") as file:
    report("names", str(sorted(file.keys())))
    report("metadata", str(sorted(file.metadata().items())))
    part = file.get_slice("float32")
    report("slice", part[1:, :2])
    report("shape", str(part.get_shape()) + part.get_dtype())
    report("half", file.get_tensor("bfloat16").float())
report("in memory", load(save({"a": torch.arange(6.0).view(2, 3)}))["a"])


class Tied(nn.Module):
    """Two layers with one weight."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)
        self.b.weight = self.a.weight


net, other = Tied(), Tied()
save_model(net, os.path.join(folder, "net.safetensors"))
report("missing", str(load_model(other, os.path.join(folder, "net.safetensors"))))
report("loaded", list(other.parameters()))
for name, bad in {
    "shared": net.state_dict(),
    "strided": {"a": torch.ones(3, 4).t()},
    "no tensor": {"a": [1.0]},
}.items():
    try:
        save_file(bad, os.path.join(folder, "bad"))
    except Exception as error:
        report(name, f"{type(error).__name__}: {str(error).splitlines()[0]}")
