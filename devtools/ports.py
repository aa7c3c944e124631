"""Ports of this machine: whether one is free, whether the service answers on it. Standard library only."""

import errno
import socket
import time

from .trouble import Trouble


def check_port(port: int) -> int:
    """Return the port, or a free one for 0.

    :raises Trouble: another program listens there.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except (OSError, OverflowError) as error:
            reason = (
                "is taken by another program"
                if isinstance(error, OSError) and error.errno == errno.EADDRINUSE
                else "cannot be used"
            )
            raise Trouble(f"Port {port} {reason}; choose another with ./dev up --port NUMBER.") from error
        chosen: int = probe.getsockname()[1]
        return chosen


def wait_until_free(port: int, *, seconds: float = 5) -> None:
    """Give processes that were just ended the time to leave the port."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            check_port(port)
        except Trouble:
            time.sleep(0.05)
        else:
            return


def answers(port: int, path: str = "/health/live") -> bool:
    """Tell whether the service answers a request."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as line:
            line.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
            return line.recv(15).startswith(b"HTTP/1.1 200")
    except OSError:
        return False
