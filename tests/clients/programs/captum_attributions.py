"""What each method of captum attributes to the inputs, layers and neurons of one net."""

import numpy as np
import torch
from captum import attr
from captum.metrics import infidelity, sensitivity_max
from reporting import report
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(
    nn.Conv2d(1, 4, 3),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Conv2d(4, 6, 2),
    nn.ReLU(),
    nn.Flatten(),
    nn.Linear(24, 3),
).eval()
x, base = torch.randn(2, 1, 8, 8), torch.zeros(2, 1, 8, 8)
for name, arguments in {
    "IntegratedGradients": {"baselines": base, "n_steps": 20, "return_convergence_delta": True},
    "Saliency": {},
    "InputXGradient": {},
    "DeepLift": {"baselines": base},
    "DeepLiftShap": {"baselines": torch.randn(3, 1, 8, 8)},
    "GradientShap": {"baselines": torch.randn(3, 1, 8, 8), "n_samples": 4},
    "GuidedBackprop": {},
    "Deconvolution": {},
    "Occlusion": {"sliding_window_shapes": (1, 4, 4), "strides": (1, 4, 4)},
    "FeatureAblation": {"feature_mask": torch.arange(4).repeat_interleave(16).view(1, 1, 8, 8)},
    "FeaturePermutation": {"feature_mask": torch.arange(4).repeat_interleave(16).view(1, 1, 8, 8)},
    "ShapleyValueSampling": {
        "feature_mask": torch.arange(4).repeat_interleave(16).view(1, 1, 8, 8),
        "n_samples": 3,
    },
    "KernelShap": {"feature_mask": torch.arange(4).repeat_interleave(16).view(1, 1, 8, 8), "n_samples": 20},
    "LRP": {},
}.items():
    torch.manual_seed(1)
    np.random.seed(1)  # some of them draw with numpy
    given = x[:1] if name == "KernelShap" else x
    try:
        found = getattr(attr, name)(net).attribute(given.clone(), target=1, **arguments)
        report(name, found)
    except Exception as error:
        report(name, f"{type(error).__name__}: {error}")

torch.manual_seed(2)
smooth = attr.NoiseTunnel(attr.Saliency(net))
report("NoiseTunnel", smooth.attribute(x, nt_samples=4, stdevs=0.1, target=0))
for (
    name
) in """LayerActivation LayerConductance LayerGradCam LayerIntegratedGradients InternalInfluence LayerDeepLift
        LayerGradientXActivation""".split():
    method = getattr(attr, name)(net, net[3])
    report(name, method.attribute(x) if name == "LayerActivation" else method.attribute(x, target=2))
report("GuidedGradCam", attr.GuidedGradCam(net, net[3]).attribute(x, target=2))
report("NeuronGradient", attr.NeuronGradient(net, net[3]).attribute(x, (1, 0, 0)))
report("NeuronConductance", attr.NeuronConductance(net, net[3]).attribute(x, (1, 0, 0), target=0))


def blurred(inputs):
    noise = 0.01 * torch.randn_like(inputs)
    return noise, inputs - noise


saliency = attr.Saliency(net)
report("infidelity", infidelity(net, blurred, x, saliency.attribute(x, target=0), target=0))
report("sensitivity", sensitivity_max(saliency.attribute, x, target=0, n_perturb_samples=3))

words = nn.Sequential(nn.Embedding(10, 4), nn.Flatten(), nn.Linear(20, 2))
by_embedding = attr.LayerIntegratedGradients(words, words[0])
report("embedding", by_embedding.attribute(torch.arange(5)[None], target=1))
