"""Weights of one model in another; frozen layers; schedules."""

import copy

import torch
import torch.nn as nn
from torch.optim import lr_scheduler

torch.manual_seed(0)


class Body(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(1)
        )
        self.fc = nn.Linear(4, classes)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(m, nn.BatchNorm2d):
                nn.init.constant_(m.weight, 1)
                nn.init.constant_(m.bias, 0)

    def forward(self, x):
        return self.fc(torch.flatten(self.features(x), 1))


big, small = Body(10), Body(2)
print(
    small.load_state_dict({k: v for k, v in big.state_dict().items() if not k.startswith("fc")}, strict=False)
)
try:
    small.load_state_dict(big.state_dict())
except RuntimeError as error:
    print(error)
for param in small.features.parameters():
    param.requires_grad = False
small.fc = nn.Linear(small.fc.in_features, 2)
print([n for n, p in small.named_parameters() if p.requires_grad])
optimizer = torch.optim.SGD(small.fc.parameters(), lr=0.1, momentum=0.9)
scheduler = lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.1)
criterion = nn.CrossEntropyLoss()
x, y = torch.randn(16, 1, 8, 8), torch.arange(16) % 2
best, best_loss = copy.deepcopy(small.state_dict()), float("inf")
for epoch in range(4):
    for phase in ("train", "val"):
        small.train() if phase == "train" else small.eval()
        optimizer.zero_grad()
        with torch.set_grad_enabled(phase == "train"):
            out = small(x)
            loss = criterion(out, y)
            if phase == "train":
                loss.backward()
                optimizer.step()
        print(phase, f"{loss.item():.4f}", (out.argmax(1) == y).sum().item())
        if phase == "val" and loss.item() < best_loss:
            best, best_loss = copy.deepcopy(small.state_dict()), loss.item()
    scheduler.step()
    print(scheduler.get_last_lr())
small.load_state_dict(best)
print(small.features[1].running_mean, small.features[1].num_batches_tracked)

activation = {}
handle = small.features[0].register_forward_hook(lambda m, i, o: activation.update(conv=o.detach()))
small(x[:1])
handle.remove()
print(activation["conv"].shape, sum(p.numel() for p in small.parameters() if p.requires_grad))
print(small.double()(x[:1].double()).dtype, next(small.parameters()).dtype)
