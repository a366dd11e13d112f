"""Messages over a socket: lists of byte strings, after both sides have proved that they know the token.

Invariant: nothing that arrives is unpickled or evaluated, and before the proof nothing longer than it is read.
"""

from __future__ import annotations

import hmac
import secrets
import socket
import struct
from typing import Any

from .errors import DistNetworkError
from .job_token import answer

LONGEST = 1 << 28
_NONCE, _DIGEST = 16, 32
_GREETING = b"vistorch-ranks-1"
PATIENCE = 10.0  # seconds for the proof


def accept(connection: socket.socket, secret: bytes) -> bool:
    """Prove the token to a client and have it prove its own; False: it is to be closed.

    Args:
        connection: of the client.
        secret: the token.
    """
    connection.settimeout(PATIENCE)
    try:
        challenge = secrets.token_bytes(_NONCE)
        connection.sendall(_GREETING + challenge)
        proof = _exactly(connection, _DIGEST + _NONCE)
        if not hmac.compare_digest(proof[:_DIGEST], answer(secret, challenge, b"client")):
            return False
        connection.sendall(answer(secret, proof[_DIGEST:], b"server"))
    except (OSError, DistNetworkError):
        return False
    connection.settimeout(None)
    return True


def greet(connection: socket.socket, secret: bytes) -> None:
    """Prove the token to a server, and have it prove its own.

    Args:
        connection: to the server.
        secret: the token.
    """
    greeting = _exactly(connection, len(_GREETING) + _NONCE)
    if not greeting.startswith(_GREETING):
        raise DistNetworkError("what listens there is not a store of vistorch.")
    challenge = secrets.token_bytes(_NONCE)
    connection.sendall(answer(secret, greeting[len(_GREETING) :], b"client") + challenge)
    try:
        proof = _exactly(connection, _DIGEST)
    except DistNetworkError:
        raise DistNetworkError("the store refused this process: its token is another job's.") from None
    if not hmac.compare_digest(proof, answer(secret, challenge, b"server")):
        raise DistNetworkError("the store that listens there does not know this job's token.")


def send(connection: socket.socket, *fields: Any) -> None:
    """Send one message.

    Args:
        connection: where to.
        *fields: bytes, or text and numbers, which travel as text.
    """
    packed = [field if isinstance(field, bytes) else str(field).encode() for field in fields]
    body = b"".join(struct.pack("!I", len(field)) + field for field in packed)
    connection.sendall(struct.pack("!I", len(body)) + body)


def receive(connection: socket.socket) -> list[bytes]:
    """Return the fields of the next message.

    Args:
        connection: from where.
    """
    (length,) = struct.unpack("!I", _exactly(connection, 4))
    if length > LONGEST:
        raise DistNetworkError(f"a message of {length} bytes is longer than a store takes ({LONGEST}).")
    body, at, fields = _exactly(connection, length), 0, []
    while at < length:
        (size,) = struct.unpack_from("!I", body, at)
        fields.append(body[at + 4 : at + 4 + size])
        at += 4 + size
    return fields


def _exactly(connection: socket.socket, count: int) -> bytes:
    parts, missing = [], count
    while missing:
        part = connection.recv(min(missing, 1 << 20))
        if not part:
            raise DistNetworkError("the connection was closed by the other side.")
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)
