"""The processor."""


def get_cpu_capability() -> str:
    """ "DEFAULT": which instructions are used is numpy's affair (`numpy.show_config()`)."""
    return "DEFAULT"
