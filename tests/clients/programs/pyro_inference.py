"""A regression by variational inference and by Hamiltonian Monte Carlo, and what it predicts."""

import pyro
import pyro.distributions as dist
import torch
from pyro.infer import (
    MCMC,
    NUTS,
    SVI,
    Predictive,
    Trace_ELBO,
    TraceEnum_ELBO,
    TraceMeanField_ELBO,
    config_enumerate,
)
from pyro.infer.autoguide import AutoDelta, AutoDiagonalNormal, AutoMultivariateNormal, AutoNormal
from pyro.nn import PyroModule, PyroSample
from reporting import report
from torch import nn

pyro.set_rng_seed(0)
x = torch.linspace(-1, 1, 30)[:, None]
y = 2 * x[:, 0] - 0.5 + 0.1 * torch.randn(30)


class Line(PyroModule):
    """A straight line whose slope and height are not known."""

    def __init__(self):
        super().__init__()
        self.linear = PyroModule[nn.Linear](1, 1)
        self.linear.weight = PyroSample(dist.Normal(0.0, 1.0).expand([1, 1]).to_event(2))
        self.linear.bias = PyroSample(dist.Normal(0.0, 1.0).expand([1]).to_event(1))

    def forward(self, x, y=None):
        """Heights with noise."""
        sigma = pyro.sample("sigma", dist.Uniform(0.0, 1.0))
        mean = self.linear(x).squeeze(-1)
        with pyro.plate("data", x.shape[0]):
            pyro.sample("obs", dist.Normal(mean, sigma), obs=y)
        return mean


for kind, elbo in (
    (AutoNormal, Trace_ELBO()),
    (AutoDiagonalNormal, Trace_ELBO(num_particles=2, vectorize_particles=False)),
    (AutoMultivariateNormal, Trace_ELBO()),
    (AutoDelta, TraceMeanField_ELBO()),
):
    pyro.clear_param_store()
    pyro.set_rng_seed(1)
    model = Line()
    guide = kind(model)
    svi = SVI(model, guide, pyro.optim.ClippedAdam({"lr": 0.03}), elbo)
    report(f"{kind.__name__}: losses", [svi.step(x, y) for _ in range(15)])
    report(f"{kind.__name__}: median", guide.median(x))
    drawn = Predictive(model, guide=guide, num_samples=4, return_sites=("obs", "_RETURN"))(x)
    report(f"{kind.__name__}: predicted", drawn["obs"])

pyro.set_rng_seed(2)
mcmc = MCMC(NUTS(Line(), max_tree_depth=4), num_samples=8, warmup_steps=8, disable_progbar=True)
mcmc.run(x, y)
report("NUTS", {name: mcmc.get_samples()[name] for name in sorted(mcmc.get_samples())})


@config_enumerate
def mixture(data):
    """Two clusters."""
    weights = pyro.sample("weights", dist.Dirichlet(0.5 * torch.ones(2)))
    with pyro.plate("clusters", 2):
        locs = pyro.sample("locs", dist.Normal(0.0, 10.0))
    with pyro.plate("points", len(data)):
        which = pyro.sample("which", dist.Categorical(weights))
        pyro.sample("point", dist.Normal(locs[which], 1.0), obs=data)


pyro.clear_param_store()
pyro.set_rng_seed(3)
points = torch.tensor([0.0, 1.0, 10.0, 11.0, 12.0])
guide = AutoDelta(pyro.poutine.block(mixture, expose=["weights", "locs"]))
svi = SVI(mixture, guide, pyro.optim.Adam({"lr": 0.2}), TraceEnum_ELBO(max_plate_nesting=1))
report("mixture: losses", [svi.step(points) for _ in range(15)])
report("mixture: clusters", guide.median(points)["locs"])
report("mixture: trace", pyro.poutine.trace(mixture).get_trace(points).log_prob_sum())
report("kl", torch.distributions.kl_divergence(dist.Normal(0.0, 1.0), dist.Normal(1.0, 2.0)))
