"""TCP ports of this machine: whether one is free and whether the service answers on it. Standard library only."""

import errno
import socket
import time

from .trouble import Trouble


def check_port(port: int) -> int:
    """Check that a port is free and return it; for 0 return any free port.

    :raises Trouble: another program uses the port, or the port cannot be used.
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
    """Wait until processes that were just ended have released the port."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            check_port(port)
        except Trouble:
            time.sleep(0.05)
        else:
            return


def answers(port: int, path: str = "/health/live") -> bool:
    """Tell whether the service answers a request with 200."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as line:
            line.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
            return line.recv(15).startswith(b"HTTP/1.1 200")
    except OSError:
        return False
