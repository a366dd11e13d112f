"""Gaussian processes: exact, of several outputs, and sparse by variational inference."""

import gpytorch
import torch
from reporting import report

torch.manual_seed(0)
x = torch.linspace(0, 1, 25)
y = torch.sin(x * 6.28) + 0.1 * torch.randn(25)
test = torch.linspace(0, 1, 7)


class Exact(gpytorch.models.ExactGP):
    """A constant mean and a scaled kernel."""

    def __init__(self, x, y, likelihood, kernel):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(kernel)

    def forward(self, x):
        """The law of the values at x."""
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


kernels = gpytorch.kernels
for kernel in (
    kernels.RBFKernel(),
    kernels.MaternKernel(2.5),
    kernels.PeriodicKernel(),
    kernels.RQKernel() + kernels.LinearKernel(),
):
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = Exact(x, y, likelihood, kernel)
    name = type(kernel).__name__
    bound = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    losses = []
    for _ in range(15):
        optimizer.zero_grad()
        loss = -bound(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    report(f"{name}: losses", losses)
    report(f"{name}: parameters", [p for _, p in model.named_parameters()])
    model.eval()
    likelihood.eval()
    with torch.no_grad(), gpytorch.settings.fast_pred_var():
        predicted = likelihood(model(test))
        report(f"{name}: mean", predicted.mean)
        report(f"{name}: variance", predicted.variance)
        report(f"{name}: region", predicted.confidence_region())
    torch.manual_seed(1)
    report(f"{name}: samples", model(test).rsample(torch.Size([2])))
report("text", str(model))
report("state", model.state_dict())


class Sparse(gpytorch.models.ApproximateGP):
    """Some points stand for all."""

    def __init__(self, points):
        law = gpytorch.variational.CholeskyVariationalDistribution(points.size(0))
        super().__init__(gpytorch.variational.VariationalStrategy(self, points, law))
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = kernels.ScaleKernel(kernels.RBFKernel())

    def forward(self, x):
        """The law of the values at x."""
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


torch.manual_seed(2)
model, likelihood = Sparse(torch.linspace(0, 1, 6)), gpytorch.likelihoods.BernoulliLikelihood()
bound = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=25)
optimizer = torch.optim.Adam([*model.parameters(), *likelihood.parameters()], lr=0.05)
losses = []
for _ in range(10):
    optimizer.zero_grad()
    loss = -bound(model(x), (y > 0).float())
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
report("classes: losses", losses)
model.eval()
report("classes: chances", likelihood.eval()(model(test)).mean)

with gpytorch.settings.max_cholesky_size(1):  # conjugate gradients and Lanczos in place of a factorisation
    torch.manual_seed(3)
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = Exact(x, y, likelihood, kernels.RBFKernel())
    loss = -gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)(model(x), y)
    loss.backward()
    report("iterative", [loss, *[p.grad for p in model.parameters()]])
