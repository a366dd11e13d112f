"""Where a reader of a lesson may read on: the pages of the site that say more about what it is about.

A notebook on a reader's own disk has no such pages beside it, so the links are the site's alone.
Invariant: every lesson has a row, and every page that a row names is there.
"""

from __future__ import annotations

import os

from vistorch.tutorials.translations import ENGLISH

from . import words

# A page: what it is called in each language of the site, where it is.
PAGES = {
    "commands": ({"en": "The commands", "zh": "各个命令"}, "notebook-tools.md"),
    "differences": ({"en": "Differences from PyTorch", "zh": "与 PyTorch 的不同"}, "differences.md"),
    "inside": ({"en": "How it works", "zh": "它是怎样工作的"}, "how-it-works.md"),
    "users": ({"en": "For users of PyTorch", "zh": "写给 PyTorch 用户"}, "for-pytorch-users.md"),
    "places": ({"en": "Where it works", "zh": "它在哪里能用"}, "where-it-works.md"),
    "diagnose": ({"en": "The rules of a diagnosis", "zh": "诊断的规则"}, "diagnose.md"),
    "ranks": ({"en": "Several processes", "zh": "多个进程"}, "ranks.md"),
    "fast": ({"en": "Fast kernels and threads", "zh": "快速内核与线程"}, "fast-kernels.md"),
    **{
        name: ({"en": f"`{says}`", "zh": f"`{says}`"}, f"reference/{name}.md")
        for name, says in {
            "autograd": "vistorch.autograd",
            "cuda": "vistorch.cuda",
            "data": "vistorch.utils.data",
            "func": "vistorch.func",
            "multiprocessing": "vistorch.multiprocessing",
            "nn": "vistorch.nn",
            "nn-functional": "vistorch.nn.functional",
            "optim": "vistorch.optim",
            "serialization": "vistorch.save and load",
            "tensor": "vistorch.Tensor",
            "vision": "vistorch.vision",
        }.items()
    },
}
LESSONS = {
    "00_look": "commands inside",
    "01_tensors": "tensor differences",
    "02_autograd": "autograd inside",
    "03_one_network_six_times": "nn optim autograd",
    "04_why_it_learns": "autograd commands",
    "05_optimizers": "optim",
    "06_a_classifier": "data vision nn-functional",
    "07_overfitting": "nn optim commands",
    "08_debugging": "commands diagnose",
    "09_kata": "commands diagnose",
    "10_a_tiny_gpt": "nn nn-functional",
    "11_fine_tuning": "vision serialization",
    "12_debug_your_pytorch_model": "users commands",
    "13_devices": "cuda places fast",
    "14_several_processes": "multiprocessing data ranks",
    "15_saving_and_exchanging": "serialization differences",
    "16_extending": "autograd func inside",
}


def line(lesson: str, language: str, here: set[str]) -> str:
    """The line of links below a lesson.

    Args:
        lesson: its name, without an ending.
        language: the page's.
        here: where there are pages in other languages than English: "zh/how-it-works.md".
    """
    links = []
    for name in LESSONS[lesson].split():
        says, place = PAGES[name]
        own = place if language == ENGLISH else f"{language}/{place}"
        folder = "tutorials" if language == ENGLISH else f"{language}/tutorials"
        target = own if language == ENGLISH or own in here else place
        links.append(f"[{says[language]}]({os.path.relpath(target, folder)})")
    return f"**{words.READ_ON[language]}** {' · '.join(links)}"
