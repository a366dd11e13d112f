"""Pairs of networks and latent Gaussians: faults beside the programs they were planted in."""

import pytest

from .planted import HEAD, Planted, accused, changed, healthy

GAN = (
    HEAD
    + """\
def mlp(a, b):
    return nn.Sequential(nn.Linear(a, 24), nn.LeakyReLU(0.2), nn.Linear(24, b))
G, D = mlp(4, 2), mlp(2, 1)
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.9))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.9))
bce = nn.BCEWithLogitsLoss()
fixed = torch.randn(32, 4)
for step in range(40):
    real = torch.randn(32, 2) * 0.3 + 2
    z = torch.randn(32, 4)
    fake = G(z)
    loss_real = bce(D(real), torch.ones(32, 1))
    loss_fake = bce(D(fake.detach()), torch.zeros(32, 1))
    opt_d.zero_grad()
    (loss_real + loss_fake).backward()
    opt_d.step()
    loss_g = bce(D(fake), torch.ones(32, 1))
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    if step % 20 == 19:
        with torch.no_grad():
            print(G(fixed).mean(0))
"""
)
HINGE = (
    ("loss_real = bce(D(real), torch.ones(32, 1))", "loss_real = F.relu(1 - D(real)).mean()"),
    (
        "loss_fake = bce(D(fake.detach()), torch.zeros(32, 1))",
        "loss_fake = F.relu(1 + D(fake.detach())).mean()",
    ),
    ("loss_g = bce(D(fake), torch.ones(32, 1))", "loss_g = -D(fake).mean()"),
)
CRITIC = (
    ("loss_real = bce(D(real), torch.ones(32, 1))", "loss_real = -D(real).mean()"),
    ("loss_fake = bce(D(fake.detach()), torch.zeros(32, 1))", "loss_fake = D(fake.detach()).mean()"),
    ("loss_g = bce(D(fake), torch.ones(32, 1))", "loss_g = -D(fake).mean()"),
)
SQUARES = ("bce = nn.BCEWithLogitsLoss()", "bce = nn.MSELoss()")

VAE = (
    HEAD
    + """\
x = torch.sigmoid(torch.randn(200, 3) @ torch.randn(3, 20))
class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(20, 32)
        self.mu, self.logvar = nn.Linear(32, 4), nn.Linear(32, 4)
        self.dec = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 20))
    def forward(self, x):
        h = torch.relu(self.enc(x))
        mu, logvar = self.mu(h), self.logvar(h)
        std = torch.exp(0.5 * logvar)
        z = mu + torch.randn_like(std) * std
        return self.dec(z), mu, logvar
net = VAE()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(6):
    for i in range(0, 200, 40):
        out, mu, logvar = net(x[i:i + 40])
        recon = F.binary_cross_entropy_with_logits(out, x[i:i + 40], reduction="sum") / 40
        kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
        loss = recon + kl
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)
DEVIATION = (
    ("torch.exp(0.5 * logvar)", "torch.exp(logvar)"),
    ("1 + logvar - mu.pow(2) - logvar.exp()", "1 + 2 * logvar - mu.pow(2) - (2 * logvar).exp()"),
)
OF_TORCH = (
    "-0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()",
    "torch.distributions.kl_divergence(torch.distributions.Normal(mu, (0.5 * logvar).exp()), "
    "torch.distributions.Normal(0.0, 1.0)).sum(1).mean()",
)

DISTILLED = (
    HEAD
    + """\
x = torch.randn(300, 20)
y = (x @ torch.randn(20, 5)).argmax(1)
teacher = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 5))
student = nn.Linear(20, 5)
opt = torch.optim.Adam([*teacher.parameters(), *student.parameters()], lr=3e-3)
T, alpha = 4.0, 0.7
for epoch in range(6):
    for at in torch.randperm(300).split(50):
        soft, out = teacher(x[at]), student(x[at])
        far = F.kl_div(
            F.log_softmax(out / T, 1), F.softmax(soft.detach() / T, 1), reduction="batchmean"
        ) * T * T
        loss = alpha * far + (1 - alpha) * F.cross_entropy(out, y[at]) + F.cross_entropy(soft, y[at])
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)
PLANTED = {
    "ones for both": Planted(
        "opponents", GAN, (("D(fake.detach()), torch.zeros", "D(fake.detach()), torch.ones"),), "loss_fake ="
    ),
    "zeros for both": Planted(
        "opponents", GAN, (("bce(D(real), torch.ones", "bce(D(real), torch.zeros"),), "loss_real ="
    ),
    "zeros for the generator": Planted(
        "opponents", GAN, (("bce(D(fake), torch.ones", "bce(D(fake), torch.zeros"),), "loss_g ="
    ),
    "squares": Planted(
        "opponents",
        GAN,
        (
            SQUARES,
            ("bce(D(fake), torch.ones", "bce(D(fake), torch.zeros"),
        ),
        "loss_g =",
    ),
    "a critic's signs": Planted(
        "opponents", changed(GAN, *CRITIC), (("loss_real = -D", "loss_real = D"),), "loss_real ="
    ),
    "the generator's sign": Planted(
        "opponents", changed(GAN, *CRITIC), (("loss_g = -D", "loss_g = D"),), "loss_g ="
    ),
    "a hinge": Planted(
        "opponents", changed(GAN, *HINGE), (("F.relu(1 + D(fake", "F.relu(1 - D(fake"),), "loss_fake ="
    ),
    "one noise": Planted(
        "same noise", GAN, (("    fake = G(z)\n", "    fake = G(fixed)\n"),), "fake = G(fixed)"
    ),
    "a distillation whose sum is not divided": Planted(
        "unlike sums",
        DISTILLED,
        (('reduction="batchmean"', 'reduction="sum"'),),
        "loss = ",
        both=False,
    ),
    "a divergence taken off": Planted("latent", VAE, (("recon + kl", "recon - kl"),), "recon - kl"),
    "a divergence without its minus": Planted(
        "latent", VAE, (("kl = -0.5", "kl = 0.5"),), "kl = 0.5", also=True
    ),
    "a divergence of distributions": Planted(
        "latent", changed(VAE, OF_TORCH), (("recon + kl", "recon - kl"),), "recon - kl", both=False
    ),
    "noise by the variance": Planted(
        "latent", VAE, (("torch.exp(0.5 * logvar)", "torch.exp(logvar)"),), "std = torch.exp"
    ),
    "uniform noise": Planted("latent", VAE, (("torch.randn_like(", "torch.rand_like("),), "torch.rand_like("),
    "uniform noise by a root": Planted(
        "latent",
        VAE,
        (
            ("torch.exp(0.5 * logvar)", "logvar.exp().sqrt()"),
            ("torch.randn_like(std)", "torch.rand(std.shape)"),
        ),
        "torch.rand(",
    ),
}
HEALTHY = {
    "a distillation": DISTILLED,
    "a distillation whose sum is divided by hand": changed(
        DISTILLED, ('reduction="batchmean"', 'reduction="sum"'), ("* T * T\n", "* T ** 2 / len(at)\n")
    ),
    "a discriminator": GAN,
    "smoothed labels": changed(
        GAN, ("bce(D(real), torch.ones(32, 1))", "bce(D(real), torch.full((32, 1), 0.9))")
    ),
    "labels exchanged on both sides": changed(
        GAN,
        ("bce(D(real), torch.ones", "bce(D(real), torch.zeros"),
        ("D(fake.detach()), torch.zeros", "D(fake.detach()), torch.ones"),
        ("bce(D(fake), torch.ones", "bce(D(fake), torch.zeros"),
    ),
    "squares": changed(GAN, SQUARES),
    "a critic": changed(GAN, *CRITIC),
    "a hinge": changed(GAN, *HINGE),
    "a variance": VAE,
    "uniform numbers made normal": changed(
        VAE, ("torch.randn_like(std)", "torch.erfinv(2 * torch.rand_like(std).clamp(0.01, 0.99) - 1) * 1.414")
    ),
    "a deviation": changed(VAE, *DEVIATION),
    "a divergence of distributions": changed(VAE, OF_TORCH),
}


@pytest.mark.parametrize("engine", ["vistorch", "torch"])
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_placed(name, engine):
    if engine == "torch" and not PLANTED[name].both:
        return
    accused(engine, PLANTED[name])


@pytest.mark.parametrize("engine", ["vistorch", "torch"])
@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_relative_is_not_accused(name, engine):
    healthy(engine, name, HEALTHY[name])
