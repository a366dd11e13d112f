"""Short-time Fourier transforms: stft and istft.

Invariant: made of views, a window and one transform per frame, so gradients need no rows; `istft` is the least
squares inverse of `stft`.
"""

from __future__ import annotations

import warnings
from typing import Any

from ...base import dims, dtypes, errors, type_names
from ...base.casting import casting
from ...base.dims import flag
from ...core.registry import FUNCTIONS, METHODS, public
from ...core.rules import REC
from ...core.tensor import Tensor
from ...core.type_promotion import floating
from ...library_name import library
from ..image.pad_arguments import MODES, bordered, constant
from ..linalg import checks
from ..linalg.fft_rows import c2c, c2r, r2c, to_complex


def _kind(t: Tensor) -> str:
    name = checks.scalar(t)
    if name in ("BFloat16", "Bool", "ComplexFloat", "ComplexDouble"):
        return f"CPU{name}Type"  # as C++ prints the types that came later
    return type_names.type_name(dtypes.of(t._data.dtype))


def _shown(name: str, t: Any, window: Any, **given: Any) -> str:
    """The call as PyTorch's sentences print it."""
    shape = errors.sizes(t._data.shape)
    parts = [f"{_kind(t)}{shape}"] + [f"{k}={v}" for k, v in list(given.items())[:3]]
    shown = "None" if window is None else f"{_kind(window)}{{{errors.sizes(window._data.shape)}}}"
    parts.append(f"window={shown}")
    parts += [f"{k}={int(v) if isinstance(v, bool) else v}" for k, v in list(given.items())[3:]]
    return f"{name}({', '.join(parts)})"


def _pad(x: Any, widths: list, mode: str) -> Tensor:
    if mode == "constant":
        return constant(x, tuple(widths), 0.0)
    if mode not in MODES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    return bordered(x, tuple(widths), mode)


def _no_window(name: str) -> None:
    if name == "stft":
        said = (
            "A window was not provided. A rectangular window will be applied,which is known to cause spectral leakage. "
            f"Other windows such as {library}.hann_window or {library}.hamming_window are recommended to reduce "
            "spectral leakage.To suppress this warning and use a rectangular window, explicitly set "
            f"`window={library}.ones(n_fft, device=<device>)`."
        )
    else:
        said = (
            "A window was not provided. A rectangular window will be applied.Please provide the same window used by "
            "stft to make the inversion lossless.To suppress this warning and use a rectangular window, explicitly "
            f"set `window={library}.ones(n_fft, device=<device>)`."
        )
    warnings.warn(said, UserWarning, stacklevel=3)


def _padded(window: Any, n_fft: int, length: int, like: Tensor) -> Any:
    """The window in the middle of a frame; ones where none is given."""
    if window is None:
        kind = dtypes.of(like._data.real.dtype)
        window = FUNCTIONS["ones"](length, dtype=kind, device=like.device)
    if length == n_fft:
        return window
    left = (n_fft - length) // 2
    kind = {"dtype": window.dtype, "device": window.device}
    zeros = FUNCTIONS["zeros"]
    return FUNCTIONS["cat"]((zeros(left, **kind), window, zeros(n_fft - length - left, **kind)))


@public()
def stft(
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    pad_mode="reflect",
    normalized=False,
    onesided=None,
    return_complex=None,
    align_to_window=None,
):
    """The Fourier transforms of short pieces of a signal, one column for each piece.

    Args:
        input: a signal, or one in each row.
        n_fft: how long a piece is.
        hop_length: how far it is to the next piece; a quarter of `n_fft` if None.
        win_length: how long the window is; `n_fft` if None.
        window: what each piece is multiplied with.
        center: pad the signal so that piece t is around the element t * hop_length.
        pad_mode: how, as `nn.functional.pad` says it.
        normalized: divide by the square root of `n_fft`.
        onesided: half of the spectrum, the other half being its conjugate; the default for real signals.
        return_complex: True; without it a last dim of real and imaginary parts, which is deprecated.
        align_to_window: let the pieces begin where the window does.

    Example:
        >>> import vistorch
        >>> vistorch.stft(vistorch.ones(8), 4, window=vistorch.hann_window(4), return_complex=True).shape
        vistorch.Size([3, 9])
    """
    if casting.on and (recast := casting.ask(stft, locals())):
        return recast[0]
    checks.tensors("stft", input=input)
    if window is not None and not isinstance(window, Tensor):
        raise TypeError(f"stft(): argument 'window' (position 5) must be Tensor, not {type(window).__name__}")
    for value, name in ((n_fft, "n_fft"), (hop_length, "hop_length"), (win_length, "win_length")):
        if (value is not None or name == "n_fft") and (not isinstance(value, int) or isinstance(value, bool)):
            raise TypeError(
                f"stft() received an invalid combination of arguments - {name}={type(value).__name__}"
            )
    normalized = flag(normalized, "stft", "normalized")
    onesided = None if onesided is None else flag(onesided, "stft", "onesided")
    return_complex = None if return_complex is None else flag(return_complex, "stft", "return_complex")
    align_to_window = None if align_to_window is None else flag(align_to_window, "stft", "align_to_window")
    x: Any = input
    if center:
        if align_to_window is not None:
            raise RuntimeError("stft align_to_window should only be set when center = false")
        count = x._data.ndim
        wide = METHODS["view"](x, (*([1] * (3 - count)), *x._data.shape))
        wide = _pad(wide, [n_fft // 2] * 2, pad_mode)
        x = METHODS["view"](wide, wide._data.shape[wide._data.ndim - count :])
    hop, length = (
        n_fft // 4 if hop_length is None else hop_length,
        n_fft if win_length is None else win_length,
    )
    if window is None:
        _no_window("stft")
    if (
        return_complex is None
        and x._data.dtype.kind != "c"
        and (window is None or window._data.dtype.kind != "c")
    ):
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs, and will further require that "
            "return_complex=True in a future PyTorch release."
        )
    if return_complex is False:
        warnings.warn(
            "stft with return_complex=False is deprecated. In a future pytorch release, stft will return complex "
            "tensors for all inputs, and return_complex=False will raise an error.\nNote: you can still call "
            f"{library}.view_as_real on the complex output to recover the old return format.",
            UserWarning,
            stacklevel=2,
        )
    shown = _shown(
        "stft",
        x,
        window,
        n_fft=n_fft,
        hop_length=hop,
        win_length=length,
        normalized=bool(normalized),
        onesided=onesided,
        return_complex=return_complex,
        align_to_window=align_to_window,
    )
    a = x._data
    if not floating(a.dtype):
        raise RuntimeError(f"{shown} : expected a tensor of floating point or complex values")
    if a.ndim not in (1, 2):
        raise RuntimeError(f"{shown} : expected a 1D or 2D tensor")
    if window is not None:
        checks.same_place("stft", x, window)
    single = a.ndim == 1
    x = METHODS["unsqueeze"](x, 0) if single else x
    total = x._data.shape[1]
    if not 0 < n_fft <= total:
        raise RuntimeError(f"{shown} : expected 0 < n_fft < {total}, but got n_fft={n_fft}")
    if hop <= 0:
        raise RuntimeError(f"{shown} : expected hop_length > 0, but got hop_length={hop}")
    if not 0 < length <= n_fft:
        raise RuntimeError(f"{shown} : expected 0 < win_length <= n_fft, but got win_length={length}")
    if window is not None and window._data.shape != (length,):
        raise RuntimeError(
            f"{shown} : expected a 1D window tensor of size equal to win_length={length}, but got window with size "
            f"{errors.sizes(window._data.shape)}"
        )
    if align_to_window and not center:
        left = (n_fft - length) // 2
        x = METHODS["narrow"](x, 1, left, total - 2 * left) if left else x
        frames = METHODS["unfold"](x, -1, length, hop)
        if length < n_fft:
            frames = _pad(frames, [left, n_fft - length - left], "constant")
    else:
        frames = METHODS["unfold"](x, -1, n_fft, hop)
    if window is not None or length < n_fft:
        frames = frames * _padded(window, n_fft, length, input)
    whole = frames._data.dtype.kind == "c"
    if onesided is None:
        onesided = not whole
    if whole and onesided:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    scale = n_fft**-0.5 if normalized else 1.0
    if frames._data.dtype in checks.HALVES:
        raise RuntimeError(f"MKL FFT doesn't support tensors of type: {checks.scalar(frames)}")
    out = c2c(frames, (2,), scale, True) if whole else r2c(frames, (2,), scale, bool(onesided))
    out = METHODS["transpose"](out, 1, 2)
    out = METHODS["squeeze"](out, 0) if single else out
    return out if return_complex is not False else FUNCTIONS["view_as_real"](out)


@public()
def istft(
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    normalized=False,
    onesided=None,
    length=None,
    return_complex=False,
):
    """The signal whose short-time Fourier transform is given, as near as can be.

    Args:
        input: what `stft` gave.
        n_fft: how long a piece is.
        hop_length: how far it is to the next piece; a quarter of `n_fft` if None.
        win_length: how long the window is; `n_fft` if None.
        window: the window.
        center: the pieces were centred.
        normalized: they were divided by the square root of `n_fft`.
        onesided: they are half of the spectrum.
        length: how long the signal is.
        return_complex: the signal is complex.

    Example:
        >>> import vistorch
        >>> w = vistorch.hann_window(4)
        >>> x = vistorch.arange(4.0)
        >>> vistorch.istft(vistorch.stft(x, 4, window=w, return_complex=True), 4, window=w).round()
        tensor([0., 1., 2., 3.])
    """
    checks.tensors("istft", input=input)
    if window is not None and not isinstance(window, Tensor):
        raise TypeError(
            f"istft(): argument 'window' (position 5) must be Tensor, not {type(window).__name__}"
        )
    n_fft = dims.whole(n_fft, "istft", "n_fft", 2)
    hop = n_fft // 4 if hop_length is None else dims.whole(hop_length, "istft", "hop_length", 3)
    wide = n_fft if win_length is None else dims.whole(win_length, "istft", "win_length", 4)
    length = length if length is None else dims.whole(length, "istft", "length", 9)
    if window is None:
        _no_window("istft")
    shown = _shown(
        "istft",
        input,
        window,
        n_fft=n_fft,
        hop_length=hop,
        win_length=wide,
        center=flag(center, "istft", "center"),
        normalized=flag(normalized, "istft", "normalized"),
        onesided=None if onesided is None else flag(onesided, "istft", "onesided"),
        length=length,
        return_complex=flag(return_complex, "istft", "return_complex"),
    )
    a = input._data
    if window is not None:
        checks.same_place("istft", input, window)
    if a.dtype.kind != "c":
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    if a.size == 0:
        raise RuntimeError(f"{shown} : input tensor cannot be empty.")
    if a.ndim < 2:
        dims.one(-3, a.ndim + 1)
    if a.ndim not in (2, 3):
        raise RuntimeError(f"{shown} : expected a tensor with 3 or 4 dimensions, but got {a.ndim + 1}")
    x: Any = METHODS["unsqueeze"](input, 0) if a.ndim == 2 else input
    bins, count = x._data.shape[1:]
    sided = onesided if onesided is not None else bins != n_fft
    if sided and n_fft // 2 + 1 != bins:
        raise RuntimeError(
            f"{shown} : expected the frequency dimension (3rd to the last) of the input tensor to match n_fft / 2 + 1 "
            f"when onesided=True, but got {bins}"
        )
    if not sided and n_fft != bins:
        raise RuntimeError(
            f"{shown} : expected the frequency dimension (3rd to the last) of the input tensor to match n_fft when "
            f"onesided=False, but got {bins}"
        )
    if not 0 < hop <= wide:
        raise RuntimeError(f"{shown} : expected 0 < hop_length <= win_length")
    if not 0 < wide <= n_fft:
        raise RuntimeError(f"{shown} : expected 0 < win_length <= n_fft")
    if window is not None and window._data.shape != (wide,):
        raise RuntimeError(f"{shown} : Invalid window shape. window has to be 1D and length of `win_length`")
    complex_window = window is not None and window._data.dtype.kind == "c"
    if not return_complex and complex_window:
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    if return_complex and sided:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    w = _padded(window, n_fft, wide, input)
    x = METHODS["transpose"](x, 1, 2)
    scale = n_fft**-0.5 if normalized else 1 / n_fft
    if return_complex:
        pieces = c2c(x, (2,), scale, False)
        w = w if complex_window else to_complex(w)
    else:
        half = x if sided else METHODS["narrow"](x, 2, 0, n_fft // 2 + 1)
        pieces = c2r(half, (2,), scale, n_fft)
    total = n_fft + hop * (count - 1)
    signal = _overlapped(pieces * METHODS["view"](w, (1, 1, n_fft)), total, hop)
    weight = _overlapped(
        METHODS["expand"](METHODS["view"](w * w, (1, 1, n_fft)), (1, count, n_fft)), total, hop
    )
    start = n_fft // 2 if center else 0
    stop = start + length if length is not None else total - n_fft // 2 if center else total
    stop = min(stop, total)
    signal = METHODS["narrow"](signal, 1, start, max(stop - start, 0))
    weight = METHODS["narrow"](weight, 1, start, max(stop - start, 0))
    least = checks.host(abs(weight._data)).min() if weight._data.size else 1.0
    if least <= 1e-11:
        raise RuntimeError(f"{shown} window overlap add min: 1")
    signal = signal / weight
    if a.ndim == 2:
        signal = METHODS["squeeze"](signal, 0)
    if length is not None and length > stop - start:
        warnings.warn(
            "The length of signal is shorter than the length parameter. Result is being padded with zeros in the "
            "tail. Please check your center and hop_length settings.",
            UserWarning,
            stacklevel=2,
        )
        signal = _pad(signal, [0, length - (stop - start)], "constant")
    return signal


def _overlapped(pieces: Any, total: int, hop: int) -> Tensor:
    """Pieces added up where they overlap: the adjoint of `unfold`."""
    lead = pieces._data.shape[0]
    return REC.unfold_backward(pieces, (lead, total), 1, pieces._data.shape[-1], hop)
