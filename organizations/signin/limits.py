"""Rate limit of calls per account, whether the account exists or not; `api.middleware` limits calls per address.

Also the network of a caller, by which wrong passwords are counted.
"""

from django.http import HttpRequest

from api import ratelimits
from api.addresses import bucket_of
from api.metering import RateLimited
from core.crypto import key_ring
from organizations.origins import client_address


def network_of(request: HttpRequest) -> str:
    """Return the network of a request: an IPv4 address, or the /64 that a single IPv6 customer is given."""
    return bucket_of(client_address(request))


def spend_for_account(name: str) -> None:
    """Count one call that concerns an account.

    :raises RateLimited: the account's limit is used up.
    """
    policy = ratelimits.POLICIES["sign_in"]
    verdict = ratelimits.take(policy, key_ring().digest(name.strip().lower(), purpose="sign-in-limit"))
    if not verdict.allowed:
        raise RateLimited(
            f"The limit of {policy.limit} requests per {policy.window_seconds} s is used up.",
            headers=ratelimits.headers(verdict),
            type="https://iana.org/assignments/http-problem-types#quota-exceeded",
            retry_after=verdict.reset_seconds,
            **{"violated-policies": [f"{policy.name}-minute"]},  # type: ignore[arg-type]  # members, not `errors`
        )
