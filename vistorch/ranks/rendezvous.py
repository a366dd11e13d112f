"""Where the store of a job is, from a URL: `env`, `tcp`, `file`, or a scheme of the user's.

Invariant: a handler is a generator that yields a store, a rank and the number of ranks, as in PyTorch.
"""

from __future__ import annotations

import numbers
import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlparse, urlunparse

from vistorch.engine.library_name import library

from .file_store import FileStore
from .store import Store
from .tcp_store import TCPStore

DEFAULT_TIMEOUT = timedelta(minutes=30)
HANDLERS: dict[str, Callable[..., Iterator]] = {}


def register_rendezvous_handler(scheme: str, handler: Callable[..., Iterator]) -> None:
    """Enter a handler for URLs of a scheme.

    Args:
        scheme: what stands before `://`.
        handler: called with the URL; a generator that yields (store, rank, world_size).

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.register_rendezvous_handler("alone", lambda url, **rest: iter([(dist.HashStore(), 0, 1)]))
        >>> next(dist.rendezvous("alone://"))[1:]
        (0, 1)
    """
    HANDLERS[scheme] = handler


def rendezvous(url: str, rank: int = -1, world_size: int = -1, **kwargs: Any) -> Iterator:
    """Yield the store, the rank and the number of ranks that a URL stands for.

    Args:
        url: `env://`, `tcp://host:port`, one of the scheme `file`, or of a registered scheme.
        rank: the rank, if the URL does not say it.
        world_size: the number of ranks, if the URL does not say it.
        **kwargs: for the handler: `timeout`.

    Example:
        >>> from vistorch import distributed as dist
        >>> store, rank, world_size = next(dist.rendezvous("tcp://127.0.0.1:0", rank=0, world_size=1))
        >>> rank, world_size
        (0, 1)
    """
    if not isinstance(url, (str, bytes)):
        raise RuntimeError(f"`url` must be a string. {type(url)}: {url}")
    if not isinstance(rank, numbers.Integral):
        raise RuntimeError(f"`rank` must be an integer. {rank}")
    if not isinstance(world_size, numbers.Integral):
        raise RuntimeError(f"`world_size` must be an integer. {world_size}")
    parts = urlparse(url)
    if rank != -1 or world_size != -1:
        query = _query(parts.query)
        if "rank" in query or "world_size" in query:
            raise AssertionError(f"The url: {url} has node-specific arguments(rank, world_size) already.")
        given = {"rank": rank, "world_size": world_size}
        query.update({name: str(value) for name, value in given.items() if value != -1})
        parts = parts._replace(query="&".join(f"{name}={value}" for name, value in query.items()))
        url = urlunparse(parts)
    if parts.scheme not in HANDLERS:
        raise RuntimeError(f"No rendezvous handler for {parts.scheme}://")
    return HANDLERS[parts.scheme](url, **kwargs)


def _query(text: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in text.split("&") if pair)


def _error(scheme: str, what: str) -> ValueError:
    return ValueError(f"Error initializing {library}.distributed using {scheme}:// rendezvous: {what}")


def _ranks(scheme: str, query: dict[str, str]) -> tuple[int, int]:
    if "rank" not in query:
        raise _error(scheme, "rank parameter missing")
    if "world_size" not in query:
        raise _error(scheme, "world size parameter missing")
    return int(query["rank"]), int(query["world_size"])


def _store_at(host: str, port: int, rank: int, world_size: int, timeout: timedelta) -> Store:
    if not 0 <= port < 2**16:
        raise ValueError(f"port must have value from 0 to 65535 but was {port}.")
    launched = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"  # the launcher serves it
    return TCPStore(host, port, world_size, rank == 0 and not launched, timeout, False, multi_tenant=True)


def _file(url: str, **kwargs: Any) -> Iterator:
    parts = urlparse(url)
    if not parts.path:
        raise _error("file", "path missing")
    rank, world_size = _ranks("file", _query(parts.query))
    yield FileStore(parts.path, world_size), rank, world_size
    raise RuntimeError(f"Unable to perform rerendezvous using {parts.scheme}:// method")


def _tcp(url: str, timeout: timedelta = DEFAULT_TIMEOUT, **kwargs: Any) -> Iterator:
    parts = urlparse(url)
    if parts.port is None:
        raise _error("tcp", "port number missing")
    rank, world_size = _ranks("tcp", _query(parts.query))
    yield _store_at(parts.hostname or "127.0.0.1", parts.port, rank, world_size, timeout), rank, world_size
    raise RuntimeError("Unable to perform re-rendezvous using tcp:// method")


def _env(url: str, timeout: timedelta = DEFAULT_TIMEOUT, **kwargs: Any) -> Iterator:
    query = _query(urlparse(url).query)

    def needed(name: str) -> str:
        value = os.environ.get(name)
        if not value:
            raise _error("env", f"environment variable {name} expected, but not set")
        return value

    rank = int(query["rank"]) if "rank" in query else int(needed("RANK"))
    world_size = int(query["world_size"]) if "world_size" in query else int(needed("WORLD_SIZE"))
    host, port = needed("MASTER_ADDR"), int(needed("MASTER_PORT"))
    yield _store_at(host, port, rank, world_size, timeout), rank, world_size
    raise RuntimeError("Unable to perform re-rendezvous using env:// method")


HANDLERS.update(env=_env, tcp=_tcp, file=_file)
