"""The client of ClamAV's daemon: a content is sent over its socket, and it answers what it found.

The operator names the daemon; it is a server beside the platform, never an address of a user. Source: clamd(8), INSTREAM.
"""

import socket
import struct
from typing import IO, Final
from urllib.parse import urlsplit

CONNECT_SECONDS: Final = 5.0
ANSWER_SECONDS: Final = 60.0

_PORT = 3310
_PIECE = 65_536
_MOST_ANSWER = 4_096
_FOUND = " FOUND"
_CLEAN = "OK"


class NotJudged(Exception):
    """The daemon answered, but said neither that the content is clean nor what is in it."""


def finding_in(content: IO[bytes], url: str) -> str:
    """Return the name of what the daemon found in a content, "" for nothing.

    :param url: `tcp://host:3310` or `unix:///run/clamav/clamd.ctl`.
    :raises OSError: the daemon does not answer.
    :raises NotJudged: it refused to judge, for example because its limits are too small.
    """
    content.seek(0)
    with _connected(url) as line:
        try:
            line.sendall(b"zINSTREAM\0")
            while piece := content.read(_PIECE):
                line.sendall(struct.pack("!I", len(piece)) + piece)
            line.sendall(struct.pack("!I", 0))
        except (BrokenPipeError, ConnectionResetError):
            pass  # it ends the stream at its limit, and says so in its answer
        return _judged(_answer(line))


def _connected(url: str) -> socket.socket:
    parts = urlsplit(url)
    is_unix = parts.scheme == "unix"
    family = socket.AF_UNIX if is_unix else socket.AF_INET6 if ":" in (parts.hostname or "") else socket.AF_INET
    line = socket.socket(family, socket.SOCK_STREAM)
    try:
        line.settimeout(CONNECT_SECONDS)
        line.connect(parts.path if is_unix else (parts.hostname or "127.0.0.1", parts.port or _PORT))
        line.settimeout(ANSWER_SECONDS)
    except BaseException:
        line.close()
        raise
    return line


def _answer(line: socket.socket) -> str:
    """Read the answer, which ends with NUL or with the connection."""
    answer = b""
    while len(answer) < _MOST_ANSWER and b"\0" not in answer:
        part = line.recv(_MOST_ANSWER)
        if not part:
            break
        answer += part
    return answer.partition(b"\0")[0].decode("utf-8", "replace").strip()


def _judged(answer: str) -> str:
    said = answer.removeprefix("stream:").strip()
    if said == _CLEAN:
        return ""
    if said.endswith(_FOUND):
        return said.removesuffix(_FOUND)[:200] or "unnamed"
    raise NotJudged(f"The scanner answered {answer[:200]!r}.")
