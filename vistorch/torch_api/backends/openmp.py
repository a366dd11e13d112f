"""OpenMP: the threads of oneDNN, where that is used."""

from vistorch.engine.kernels.fast.switch import onednn


def is_available() -> bool:
    """Whether the kernels of oneDNN are there, and with them OpenMP's threads.

    Example:
        >>> import vistorch
        >>> vistorch.backends.openmp.is_available() == vistorch.backends.mkldnn.is_available()
        True
    """
    return onednn.available()
