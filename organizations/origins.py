"""Where a request comes from: the network address that the trusted proxies report, and the user agent."""

import ipaddress
from collections.abc import Sequence

from django.http import HttpRequest

from core.actor import Origin

USER_AGENT_LENGTH = 300


def origin_of(request: HttpRequest) -> Origin:
    """Return the address and user agent of a request; the user agent is cut to the length an audit entry keeps."""
    agent = request.META.get("HTTP_USER_AGENT", "")[:USER_AGENT_LENGTH]
    return Origin(client_address(request), agent if agent.isprintable() else "".join(filter(str.isprintable, agent)))


def client_address(request: HttpRequest) -> str:
    """Return the network address of a caller, as the trusted proxies report it."""
    return str(getattr(request, "client_address", "") or request.META.get("REMOTE_ADDR", ""))


def address_of(request: HttpRequest) -> str | None:
    """Return the address of a caller if it is one, for a column of addresses."""
    try:
        return str(ipaddress.ip_address(client_address(request)))
    except ValueError:
        return None


def is_within(address: str, networks: Sequence[str]) -> bool:
    """Tell whether an address is in one of the networks."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(found in ipaddress.ip_network(network) for network in networks)
