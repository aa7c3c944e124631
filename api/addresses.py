"""The caller's network address, as far as trusted proxies vouch for it."""

import ipaddress
from collections.abc import Mapping
from functools import lru_cache

UNKNOWN = "unknown"


def client_address(meta: Mapping[str, str], *, trusted_proxies: int) -> str:
    """Return the caller's address, or "unknown".

    X-Forwarded-For is read from its right end, one entry for each trusted proxy. Entries further left were written by
    the caller. A list with fewer entries did not pass the trusted proxies and is ignored.
    """
    direct = _canonical(meta.get("REMOTE_ADDR", ""))
    if trusted_proxies <= 0:
        return direct
    hops = meta.get("HTTP_X_FORWARDED_FOR", "").split(",")
    if len(hops) < trusted_proxies:
        return direct
    forwarded = _canonical(hops[-trusted_proxies].strip())
    return direct if forwarded == UNKNOWN else forwarded


@lru_cache(maxsize=4_096)
def bucket_of(address: str) -> str:
    """Return the unit of limits by address: one IPv4 address, or the /64 that a single IPv6 customer is given."""
    if ":" not in address:
        return address
    return str(ipaddress.IPv6Network((address, 64), strict=False))


@lru_cache(maxsize=4_096)
def _canonical(text: str) -> str:
    try:
        found = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return UNKNOWN
    mapped = getattr(found, "ipv4_mapped", None)
    return str(mapped or found)
