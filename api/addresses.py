"""Where a request comes from, as far as that can be believed."""

import ipaddress
from collections.abc import Mapping
from functools import lru_cache

UNKNOWN = "unknown"


def client_address(meta: Mapping[str, str], *, trusted_proxies: int) -> str:
    """The caller's address; X-Forwarded-For is read from its right end, one entry for each proxy of ours.

    What stands further left was written by the caller. A list that is too short did not pass our proxies.
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
    """The unit of per-address limits: one IPv4 address, or the /64 a single IPv6 customer is given."""
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
