"""Signal processing: windows and short-time Fourier transforms."""

from . import stft, windows
