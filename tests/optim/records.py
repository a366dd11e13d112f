"""Every optimizer and the options under which its path is compared with torch's.

Invariant: each option of each constructor is used at least once.
"""

DECAYS = [{"weight_decay": 0.1}, {"maximize": True}, {"foreach": False}, {"differentiable": False}]
BETAS = [{"betas": (0.8, 0.95), "eps": 1e-3}, {"capturable": False}, *DECAYS]

RECORDS = {
    "SGD": [
        {},
        {"momentum": 0.9},
        {"momentum": 0.9, "nesterov": True, "weight_decay": 0.01},
        {"momentum": 0.8, "dampening": 0.3, "weight_decay": 0.1},
        {"fused": False},
        *DECAYS,
    ],
    "Adam": [
        {},
        {"amsgrad": True},
        {"weight_decay": 0.1, "decoupled_weight_decay": True},
        {"fused": False},
        *BETAS,
    ],
    "AdamW": [{}, {"amsgrad": True, "weight_decay": 0.3}, {"fused": False}, *BETAS],
    "Adamax": [{}, *BETAS],
    "NAdam": [{}, {"momentum_decay": 0.1}, {"weight_decay": 0.1, "decoupled_weight_decay": True}, *BETAS],
    "RAdam": [{}, {"weight_decay": 0.1, "decoupled_weight_decay": True}, *BETAS],
    "Adagrad": [
        {},
        {"lr_decay": 0.1},
        {"initial_accumulator_value": 0.5, "eps": 1e-3},
        {"fused": False},
        *DECAYS,
    ],
    "Adadelta": [{}, {"rho": 0.7, "eps": 1e-3}, {"capturable": False}, *DECAYS],
    "RMSprop": [
        {},
        {"momentum": 0.9},
        {"centered": True, "alpha": 0.9},
        {"centered": True, "momentum": 0.5, "eps": 1e-3},
        {"capturable": False},
        *DECAYS,
    ],
    "Rprop": [{}, {"etas": (0.3, 1.5), "step_sizes": (1e-4, 0.05)}, {"capturable": False}, *DECAYS[1:]],
    "ASGD": [{}, {"lambd": 0.1, "alpha": 0.5, "t0": 10}, {"capturable": False}, *DECAYS],
}

BAD = {
    "SGD": [
        {"lr": -1},
        {"momentum": -1},
        {"weight_decay": -1},
        {"nesterov": True},
        {"momentum": 0.9, "nesterov": True, "dampening": 0.1},
    ],
    "Adam": [
        {"lr": -1},
        {"betas": (1.0, 0.9)},
        {"betas": (0.9, -0.1)},
        {"eps": -1},
        {"weight_decay": -1},
        {"betas": (0.5, 0)},
    ],
    "AdamW": [{"lr": -1}, {"betas": (1.0, 0.9)}, {"eps": -1}, {"weight_decay": -1}],
    "Adamax": [{"lr": -1}, {"betas": (1.0, 0.9)}, {"eps": -1}, {"weight_decay": -1}],
    "NAdam": [
        {"lr": -1},
        {"betas": (0.5, 1.9)},
        {"eps": -1},
        {"weight_decay": -1},
        {"momentum_decay": -1},
    ],
    "RAdam": [{"lr": -1}, {"betas": (0.5, 1.9)}, {"eps": -1}, {"weight_decay": -1}],
    "Adagrad": [
        {"lr": -1},
        {"lr_decay": -1},
        {"eps": -1},
        {"weight_decay": -1},
        {"initial_accumulator_value": -1},
    ],
    "Adadelta": [{"lr": -1}, {"rho": 2}, {"eps": -1}, {"weight_decay": -1}],
    "RMSprop": [{"lr": -1}, {"alpha": -1}, {"eps": -1}, {"weight_decay": -1}, {"momentum": -1}],
    "Rprop": [{"lr": -1}, {"etas": (1.5, 2)}, {"etas": (0.5, 0.9)}],
    "ASGD": [{"lr": -1}, {"weight_decay": -1}],
}
