"""Mixtures of data and noise: faults beside the programs they were planted in."""

import pytest

from .planted import HEAD, Planted, accused, changed, healthy

STEPS = (
    HEAD
    + """\
T = 100
betas = torch.linspace(1e-3, 0.06, T)
alphas = 1.0 - betas
alpha_bar = torch.cumprod(alphas, dim=0)
class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Embedding(T, 16)
        self.net = nn.Sequential(nn.Linear(18, 48), nn.SiLU(), nn.Linear(48, 2))
    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], dim=1))
def q_sample(x0, t, noise):
    ab = alpha_bar[t].unsqueeze(1)
    return ab.sqrt() * x0 + (1 - ab).sqrt() * noise
angle = torch.rand(500) * 6.283
data = torch.stack([angle.cos(), angle.sin()], 1)
model = Denoiser()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(60):
    x0 = data[torch.randint(0, len(data), (64,))]
    t = torch.randint(0, T, (x0.size(0),))
    noise = torch.randn_like(x0)
    x_t = q_sample(x0, t, noise)
    loss = F.mse_loss(model(x_t, t), noise)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)
OBJECT = (
    HEAD
    + """\
class Diffusion(nn.Module):
    def __init__(self, steps=50):
        super().__init__()
        self.steps = steps
        beta = torch.linspace(1e-4, 0.1, steps)
        alpha = 1 - beta
        alpha_hat = alpha.cumprod(0)
        self.register_buffer("alpha", alpha)
        self.register_buffer("root", alpha_hat.sqrt())
        self.register_buffer("rest", torch.sqrt(1 - alpha_hat))
        self.net = nn.Sequential(nn.Conv2d(2, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1))
    def noised(self, x, t):
        eps = torch.randn(x.shape)
        return self.root[t][:, None, None, None] * x + self.rest[t][:, None, None, None] * eps, eps
    def forward(self, x):
        t = torch.randint(self.steps, (x.shape[0],))
        noisy, eps = self.noised(x, t)
        level = (t / self.steps)[:, None, None, None].expand_as(x)
        return ((self.net(torch.cat([noisy, level], 1)) - eps) ** 2).mean()
pictures = (torch.rand(120, 1, 1, 1) > 0.5).float() * 2 - torch.ones(120, 1, 8, 8)
diffusion = Diffusion()
optimizer = torch.optim.AdamW(diffusion.parameters(), lr=1e-3)
for epoch in range(8):
    for batch in torch.randperm(120).split(20):
        loss = diffusion(pictures[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
)
MIX = "ab.sqrt() * x0 + (1 - ab).sqrt() * noise"
PLANTED = {
    "the factor of one step": Planted(
        "noise schedule", STEPS, (("ab = alpha_bar[t]", "ab = alphas[t]"),), "ab = alphas"
    ),
    "a table of one step": Planted(
        "noise schedule",
        OBJECT,
        (
            ('"root", alpha_hat.sqrt()', '"root", alpha.sqrt()'),
            ("torch.sqrt(1 - alpha_hat)", "torch.sqrt(1 - alpha)"),
        ),
        '"root"',
    ),
    "no roots": Planted("noise schedule", STEPS, ((MIX, "ab * x0 + (1 - ab) * noise"),), "return ab"),
    "one root": Planted("noise schedule", STEPS, ((MIX, "ab.sqrt() * x0 + (1 - ab) * noise"),), "return ab"),
    "a table without its root": Planted(
        "noise schedule", OBJECT, (("torch.sqrt(1 - alpha_hat)", "1 - alpha_hat"),), "return self.root"
    ),
    "uniform noise": Planted(
        "noise schedule", STEPS, (("torch.randn_like(x0)", "torch.rand_like(x0)"),), "noise = torch"
    ),
    "uniform noise by its shape": Planted(
        "noise schedule", OBJECT, (("torch.randn(x.shape)", "torch.rand(x.shape)"),), "eps = torch"
    ),
}
HEALTHY = {
    "steps": STEPS,
    "an object": OBJECT,
    "a flow": changed(
        STEPS,
        ("ab = alpha_bar[t].unsqueeze(1)", "ab = 1 - (t / T).unsqueeze(1)"),
        (MIX, "ab * x0 + (1 - ab) * noise"),
    ),
    "a flow from uniform numbers": changed(
        STEPS,
        ("ab = alpha_bar[t].unsqueeze(1)", "ab = 1 - (t / T).unsqueeze(1)"),
        (MIX, "ab * x0 + (1 - ab) * noise"),
        ("torch.randn_like(x0)", "torch.rand_like(x0)"),
    ),
    "noise that is added": changed(
        STEPS, (MIX, "x0 + ((1 - ab) / ab).sqrt() * noise"), ("1e-3, 0.06", "1e-3, 0.03")
    ),
    "noise that is added by a table": changed(STEPS, (MIX, "1.0 * x0 + (1 - ab).sqrt() * noise")),
    "one step after another": changed(
        STEPS,
        (
            "    x_t = q_sample(x0, t, noise)\n",
            "    x_t = x0\n    for k in range(3):\n"
            "        noise = torch.randn_like(x0)\n"
            "        x_t = alphas[t].sqrt()[:, None] * x_t + (1 - alphas[t]).sqrt()[:, None] * noise\n",
        ),
    ),
    "the data is asked for": changed(
        STEPS, ("model(x_t, t), noise)", "model(x_t, t), x0)"), ("alpha_bar[t]", "alpha_bar[t // 2]")
    ),
    "data that is scaled": changed(STEPS, (MIX, "ab.sqrt() * 0.3 * x0 + (1 - ab).sqrt() * noise")),
    "cosine": changed(
        STEPS,
        (
            "alpha_bar = torch.cumprod(alphas, dim=0)",
            "alpha_bar = torch.cos(torch.linspace(0.05, 1.5, T)) ** 2",
        ),
    ),
    "a loss of one step beside a schedule of its own": changed(
        STEPS, ("alpha_bar = torch.cumprod(alphas, dim=0)", "alpha_bar = alphas")
    ),
    "uniform numbers that are inputs": changed(
        STEPS,
        ("torch.randn_like(x0)", "torch.rand_like(x0)"),
        ("x_t = q_sample(x0, t, noise)", "x_t = x0 * noise"),
        ("t), noise)", "t), x0)"),
    ),
}


@pytest.mark.parametrize("engine", ["vistorch", "torch"])
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_placed(name, engine):
    accused(engine, PLANTED[name])


@pytest.mark.parametrize("engine", ["vistorch", "torch"])
@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_relative_is_not_accused(name, engine):
    healthy(engine, name, HEALTHY[name])
