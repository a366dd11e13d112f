"""Vision transformers of many kinds: outputs, gradients, distillation, masked learning, attention maps."""

import torch
from reporting import report
from vit_pytorch import MAE, SimpleViT, ViT
from vit_pytorch.cait import CaiT
from vit_pytorch.cct import CCT
from vit_pytorch.cvt import CvT
from vit_pytorch.deepvit import DeepViT
from vit_pytorch.distill import DistillableViT, DistillWrapper
from vit_pytorch.extractor import Extractor
from vit_pytorch.levit import LeViT
from vit_pytorch.mobile_vit import MobileViT
from vit_pytorch.pit import PiT
from vit_pytorch.recorder import Recorder
from vit_pytorch.t2t import T2TViT
from vit_pytorch.xcit import XCiT

small = {
    "image_size": 32,
    "patch_size": 8,
    "num_classes": 5,
    "dim": 24,
    "depth": 2,
    "heads": 2,
    "mlp_dim": 32,
}
MODELS = {
    "ViT": lambda: ViT(**small, dropout=0.1),
    "SimpleViT": lambda: SimpleViT(**small),
    "DeepViT": lambda: DeepViT(**small),
    "CaiT": lambda: CaiT(**small, cls_depth=1),
    "PiT": lambda: PiT(image_size=32, patch_size=8, num_classes=5, dim=24, depth=(1, 1), heads=2, mlp_dim=32),
    "T2TViT": lambda: T2TViT(dim=24, image_size=32, depth=1, heads=2, mlp_dim=32, num_classes=5),
    "XCiT": lambda: XCiT(**small, cls_depth=1),
    "CvT": lambda: CvT(
        num_classes=5,
        s1_emb_dim=8,
        s1_heads=1,
        s1_depth=1,
        s2_emb_dim=16,
        s2_heads=1,
        s2_depth=1,
        s3_emb_dim=16,
        s3_heads=1,
        s3_depth=1,
    ),
    "CCT": lambda: CCT(
        img_size=32,
        embedding_dim=24,
        n_conv_layers=1,
        num_layers=1,
        num_heads=2,
        mlp_ratio=2.0,
        num_classes=5,
    ),
    "LeViT": lambda: LeViT(
        image_size=64, num_classes=5, stages=2, dim=(16, 24), depth=1, heads=(1, 2), mlp_mult=2
    ),
    "MobileViT": lambda: MobileViT(
        (64, 64), [16, 24, 32], [4, 8, 8, 8, 8, 8, 8, 8, 8, 16, 16], num_classes=5
    ),
}
for name, make in MODELS.items():
    torch.manual_seed(0)
    try:
        net = make()
        x = torch.randn(2, 3, 64, 64) if name in ("LeViT", "MobileViT") else torch.randn(2, 3, 32, 32)
        out = net(x)
        report(name, out)
        out.square().sum().backward()
        report(f"{name}: gradients", [p.grad.norm() for p in net.parameters() if p.grad is not None])
    except Exception as error:
        report(name, f"{type(error).__name__}: {error}")

torch.manual_seed(0)
x = torch.randn(2, 3, 32, 32)
net = ViT(**small)
seen, attention = Recorder(net)(x)
report("attention", attention)
report("embeddings", Extractor(ViT(**small))(x)[1])
for learner in (MAE(encoder=ViT(**small, pool="mean"), masking_ratio=0.75, decoder_dim=24, decoder_depth=1),):
    loss = learner(x)
    loss.backward()
    report(
        type(learner).__name__, [loss, *[p.grad.norm() for p in learner.parameters() if p.grad is not None]]
    )
student = DistillableViT(**small)
teacher = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 5))
loss = DistillWrapper(student=student, teacher=teacher, temperature=3, alpha=0.5)(x, torch.tensor([1, 4]))
loss.backward()
report("distillation", loss)
