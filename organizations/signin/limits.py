"""How often calls may concern one account, known or not. (Addresses are counted at the edge.)"""

from api import ratelimits
from api.metering import RateLimited
from core.crypto import key_ring


def spend_for_account(name: str) -> None:
    """This function will count one call that concerns an account.

    :raises RateLimited: there were too many.
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
