"""Models by name, their features, and a training with timm's own optimizers, schedules, losses and averages."""

import numpy as np
import timm
import timm.data
import timm.loss
import timm.optim
import timm.scheduler
import timm.utils
import torch
from reporting import report

NAMES = """
resnet18 resnet26d vit_tiny_patch16_224 efficientnet_b0 convnext_atto mobilenetv3_small_050 swin_tiny_patch4_window7_224
mixer_s32_224 regnety_002 deit_tiny_patch16_224
""".split()
for name in NAMES:
    torch.manual_seed(0)
    sized = {"img_size": 64} if name.split("_")[0] in ("vit", "swin", "deit", "mixer") else {}
    net = timm.create_model(name, num_classes=7, **sized)
    report(f"{name}: parameters", [p.double().sum() for p in net.parameters()])
    x = torch.randn(4, 3, 64, 64)
    net.eval()
    out = net(x)
    report(f"{name}: output", out)
    out.square().sum().backward()
    # a direction in the space of parameters for each: the whole is millions of numbers
    report(f"{name}: gradients", [p.grad.double().norm() for p in net.parameters() if p.grad is not None])

torch.manual_seed(0)
features = timm.create_model("resnet10t", features_only=True, out_indices=(1, 3)).eval()
report("features", [f.mean((2, 3)) for f in features(torch.randn(1, 3, 64, 64))])
report("channels", str(features.feature_info.channels()))
tokens = timm.create_model("vit_tiny_patch16_224", img_size=32, num_classes=0).eval()
report("tokens", tokens.forward_features(torch.randn(1, 3, 32, 32)))

torch.manual_seed(0)
net = timm.create_model("resnet10t", num_classes=5)
optimizer = timm.optim.create_optimizer_v2(net, opt="adamw", lr=1e-3, weight_decay=0.05)
schedule = timm.scheduler.CosineLRScheduler(optimizer, t_initial=5, warmup_t=2, warmup_lr_init=1e-5)
average = timm.utils.ModelEmaV3(net, decay=0.5)
mixup = timm.data.Mixup(mixup_alpha=0.4, cutmix_alpha=0.0, num_classes=5)
criterion = timm.loss.SoftTargetCrossEntropy()
report("groups", [len(group["params"]) for group in optimizer.param_groups])
np.random.seed(0)
losses = []
for epoch in range(4):
    x, y = mixup(torch.randn(4, 3, 64, 64), torch.randint(5, (4,)))
    loss = criterion(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    timm.utils.dispatch_clip_grad(net.parameters(), 1.0)
    optimizer.step()
    average.update(net)
    schedule.step(epoch + 1)
    losses += [loss.item(), optimizer.param_groups[0]["lr"]]
report("training", losses)
report("average", average.module.get_classifier().weight)
for name in timm.optim.list_optimizers(exclude_filters=["fused*", "bnb*", "apex*"]):
    torch.manual_seed(0)
    line = torch.nn.Linear(6, 4)
    try:
        step = timm.optim.create_optimizer_v2(line, opt=name, lr=0.01)
        for _ in range(3):
            step.zero_grad()
            loss = line(torch.randn(5, 6)).square().mean()
            loss.backward(create_graph="hess" in name)
            step.step()
        report(name, line.weight)
    except Exception as error:
        report(name, f"{type(error).__name__}: {error}")
