"""The secret that processes of one job share: who does not know it is not answered.

A launcher makes one for each job and puts it into the environment; where there is none, the user's own file is it, so
that processes started by hand on one machine, or with one home directory, find each other.

Invariant: the token itself is never sent; each side proves that it knows it, over a number the other side drew.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path

VARIABLE = "VISTORCH_RANKS_TOKEN"


def token() -> bytes:
    """The job's secret: the environment's, else the user's, which is made when it is first asked for."""
    given = os.environ.get(VARIABLE)
    return given.encode() if given else _of_user()


def fresh() -> str:
    """A secret for a new job."""
    return secrets.token_hex(32)


def answer(secret: bytes, challenge: bytes, side: bytes) -> bytes:
    """What proves that one knows the secret.

    Args:
        secret: the token.
        challenge: the number that the other side drew.
        side: who answers, so that an answer cannot be played back to its sender.
    """
    return hmac.new(secret, side + challenge, hashlib.sha256).digest()


def _of_user() -> bytes:
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vistorch"
    path = folder / "ranks-token"
    folder.mkdir(parents=True, exist_ok=True)
    for _ in range(2):
        try:
            found = path.read_bytes()
        except FileNotFoundError:
            found = b""
        if len(found) >= 64:
            return found
        made = folder / f"ranks-token.{os.getpid()}"
        with open(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(fresh())
        try:
            os.link(made, path)  # the process that links first has made it
        except FileExistsError:
            pass
        finally:
            made.unlink()
    raise RuntimeError(f"{path} is not a token that vistorch made: delete it, or set {VARIABLE}.")
