"""Which build of PyTorch is compared with: of accelerators that are not there, its CPU build alone has these words.

Its build for CUDA takes a number for a card, whether there is one or not, and looks for a driver.
"""

import torch

CPU_BUILD = torch.version.cuda is None
NO_ACCELERATOR = "Cannot access accelerator device when none is available."
