"""Where the platform may connect to when a user names the address, told from the text and from resolved addresses."""

import ipaddress
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from django.conf import settings
from yarl import URL

from core.errors import FieldError, InvalidFields

LONGEST_URL = 2048

_CLOSED_4 = tuple(
    ipaddress.IPv4Network(text)
    for text in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    )
)  # fmt: skip
_OPEN_6 = ipaddress.IPv6Network("2000::/3")
_CLOSED_6 = tuple(
    ipaddress.IPv6Network(text)
    for text in ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
)
_LOW_PORTS = frozenset({443})
_FIRST_HIGH_PORT = 1024
# Databases, brokers, caches, cluster and management interfaces that often listen without a password.
_CLOSED_PORTS = frozenset(
    {1433, 1521, 1883, 2049, 2181, 2375, 2376, 2379, 2380, 3306, 3389, 4222, 4369, 5000, 5432, 5433, 5601, 5671, 5672}
    | {5900, 5984, 6000, 6379, 6380, 6443, 7000, 7001, 7199, 7474, 7687, 8009, 8020, 8086, 8200, 8300, 8500, 8529, 8983}
    | {9000, 9042, 9090, 9092, 9093, 9100, 9160, 9200, 9300, 9418, 10000, 10250, 10255, 11211, 15672, 16379, 25672}
    | {26379, 26257, 27017, 27018, 27019, 28017, 50000, 50070, 61616}
)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_INNER_ENDINGS = ("internal", "local", "localhost", "localdomain", "lan", "home", "corp", "intranet")
_REFUSED = "The address must be an https URL on the public internet."


class BlockedDestination(InvalidFields):
    """The platform does not connect there. Every cause has the same words, so that nobody can map our network."""

    title: ClassVar[str] = "The destination is not allowed."

    def __init__(self, field_name: str = "url") -> None:
        super().__init__(errors=[FieldError(field_name, "blocked_destination", _REFUSED)])


@dataclass(frozen=True, slots=True)
class Rules:
    """What the operator lets out.

    `allow_private` is the developer's setting: http, literals, any port and any host are then fine. `ports` narrows
    the open ones, empty leaves them. Through a `proxy_url` goes everything, and it is the proxy that looks names up and
    judges their addresses. `ca_file` is believed instead of the system's certificates.
    """

    allow_private: bool = False
    ports: frozenset[int] = frozenset()
    proxy_url: str = ""
    ca_file: str = ""

    def opens(self, port: int) -> bool:
        """Tell whether a port may be dialled."""
        if self.ports:
            return port in self.ports
        return port in _LOW_PORTS or (port >= _FIRST_HIGH_PORT and port not in _CLOSED_PORTS)


def rules() -> Rules:
    """Return the operator's rules. Their settings bear the name of the first app that went out."""
    return Rules(
        allow_private=settings.WEBHOOKS_ALLOW_PRIVATE_DESTINATIONS,
        ports=frozenset(settings.WEBHOOKS_PORTS),
        proxy_url=settings.WEBHOOKS_PROXY_URL,
        ca_file=settings.WEBHOOKS_CA_FILE,
    )


def is_public(address: str) -> bool:
    """Tell whether an address literal lies on the public internet.

    Own lists, because `ipaddress.is_global` lets NAT64, 6to4, multicast and IPv4-compatible forms pass.
    """
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        if found.scope_id is not None:
            return False
        if found.ipv4_mapped is None:
            return found in _OPEN_6 and not any(found in closed for closed in _CLOSED_6)
        found = found.ipv4_mapped
    return not any(found in closed for closed in _CLOSED_4)


def check_url(url: str, way: Rules, *, addresses: Collection[str] = ()) -> None:
    """Check what can be known of an address without asking the network; `addresses` is what `look_up` found before.

    A name without addresses passes, since it may get some later; whatever it gets is checked when it is dialled.

    :raises BlockedDestination: not https, credentials inside, a port, literal or name that is not public.
    """
    parsed = parse(url)
    if way.allow_private:
        return
    if parsed.scheme != "https" or not way.opens(parsed.port or 0) or not _is_public_name(parsed.raw_host or ""):
        raise BlockedDestination
    if not all(is_public(address) for address in addresses):
        raise BlockedDestination


def parse(url: str) -> URL:
    """Read the address with the parser of the client that will dial it, so that the two cannot differ."""
    if len(url) > LONGEST_URL or not url.isascii() or re.search(r"[\x00-\x20\x7f\\]", url):
        raise BlockedDestination
    try:
        parsed = URL(url)
        port = parsed.port
    except ValueError as error:
        raise BlockedDestination from error
    credentials = parsed.raw_user is not None or parsed.raw_password is not None
    if parsed.scheme not in ("http", "https") or not parsed.raw_host or not port or credentials or "#" in url:
        raise BlockedDestination
    return parsed


def _is_public_name(host: str) -> bool:
    """A name of at least two labels, no literal in any spelling, nothing that only an inner resolver knows."""
    labels = host.lower().split(".")
    if len(host) > 253 or len(labels) < 2 or not all(_LABEL.fullmatch(label) for label in labels):
        return False
    # A last label that is a number makes the whole an IPv4 address to many parsers. Source: WHATWG URL, host parsing.
    return _NUMBER.fullmatch(labels[-1]) is None and labels[-1] not in _INNER_ENDINGS
