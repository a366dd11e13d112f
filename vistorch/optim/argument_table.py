"""What the arguments of optimizers mean, where several have them.

Invariant: an optimizer whose argument means something else says so itself.
"""

ARGUMENTS = {
    "params": "parameters, or dicts of parameters with options of their own.",
    "lr": "learning rate.",
    "betas": "how much of the running averages is kept at each step.",
    "eps": "added to the denominator.",
    "weight_decay": "pull towards zero, added to the gradient.",
    "momentum": "how much of the last step is kept.",
    "decoupled_weight_decay": "shrink the parameter itself, as AdamW does.",
    "foreach": "accepted; there is one implementation.",
    "fused": "accepted; there is one implementation.",
    "maximize": "climb instead of descend.",
    "capturable": "accepted.",
    "differentiable": "record the step itself.",
}
