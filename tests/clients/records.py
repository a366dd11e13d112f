"""The table of clients: a library, the program that puts it to its work, and what that work is."""

from typing import NamedTuple


class Client(NamedTuple):
    """A library and its program; `name` is as in `pinned.txt`."""

    name: str
    program: str
    work: str
    close: float = 1e-4  # the largest difference, relative to the largest number of a result


CLIENTS = (
    Client(
        "einops", "einops_layers", "a net of `Rearrange`, `Reduce` and `EinMix` that trains; all functions"
    ),
    Client("torchinfo", "torchinfo_summary", "the text of seven summaries"),
    Client("torchmetrics", "torchmetrics_updates", "41 metrics over batches, wrappers, saved states"),
    Client(
        "captum", "captum_attributions", "14 attributions to inputs, 10 to layers and neurons, 2 measures"
    ),
    Client("skorch", "skorch_fit", "`fit`, callbacks, `GridSearchCV`, pipelines, saved parameters"),
    Client("timm", "timm_models", "10 models forward and backward, a training, every optimizer of its list"),
    Client("accelerate", "accelerate_loop", "`prepare`, accumulation, clipping, states on disk"),
    Client("lightning", "lightning_fit", "`Trainer.fit`, callbacks, checkpoints, resuming, `Fabric`"),
    Client(
        "x-transformers", "x_transformers_training", "six decoders that train and generate, three wrappers"
    ),
    Client("ema-pytorch", "ema_pytorch_average", "averages of weights, by lists and afterwards"),
    Client(
        "denoising-diffusion-pytorch", "diffusion_training", "U-Nets that train, samples by DDPM and DDIM"
    ),
    Client("pyro-ppl", "pyro_inference", "`SVI` with four guides, `NUTS`, enumeration, `Predictive`"),
    Client("kornia", "kornia_pictures", "26 functions of pictures with gradients, augmentation, geometry"),
    Client(
        "gpytorch",
        "gpytorch_regression",
        "`ExactGP` with four kernels, a variational model, conjugate gradients",
    ),
    Client(
        "torchdiffeq",
        "torchdiffeq_adjoint",
        "12 solvers by `odeint` and `odeint_adjoint`, a training, an event",
    ),
    Client("pytorch-ignite", "ignite_engine", "engines, metrics, schedules, checkpoints, early stopping"),
    Client("torch-optimizer", "torch_optimizer_steps", "every optimizer, six steps of two problems"),
    Client(
        "vit-pytorch", "vit_pytorch_models", "11 models forward and backward, distillation, masked learning"
    ),
    Client("safetensors", "safetensors_files", "files of 14 types byte by byte, slices, shared weights"),
    Client("transformers", "transformers_bert", "BERT: three heads, both attentions, a training, files"),
    Client("transformers", "transformers_gpt2", "GPT-2: a training, the cache, eight ways to generate"),
    Client("transformers", "transformers_llama", "Llama: a training, `generate`, shards, bfloat16"),
    Client("transformers", "transformers_vit", "ViT: a training, masked pictures, larger pictures"),
    Client(
        "transformers",
        "transformers_trainer",
        "`Trainer`: epochs, evaluation, files, going on from a checkpoint",
    ),
    Client("peft", "peft_adapters", "nine kinds of adapters: trained, merged, saved, loaded, switched off"),
    Client("pytorch-metric-learning", "metric_learning", "23 losses, four miners, a memory, a training"),
    Client("entmax", "entmax_losses", "five sparse distributions, four losses, a training"),
    Client("lion-pytorch", "lion_steps", "four sets of options, groups, a schedule, a saved state"),
    Client("pytorch-msssim", "msssim_pictures", "pictures, volumes, gradients, a picture found by it"),
)
