"""The count of a request against its rate limit: one call to Valkey, by tenant and credential once both are proved."""

import time
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from core.actor import Actor, Subject
from core.errors import PlatformError, TooMany

from . import ratelimits
from .authentication import tenant_header

_REMEMBER_SECONDS = 60
_proven: dict[tuple[str, UUID], tuple[float, dict[str, int]]] = {}


class RateLimited(TooMany):
    """All requests of the window are used up."""

    code = "rate_limited"
    extensions = {
        "type": "https://iana.org/assignments/http-problem-types#quota-exceeded",
        "retry_after": 30,
        "violated-policies": ["supplier-minute"],
    }


class Meter:
    """The rate limit of one request, and the headers of its answer."""

    def __init__(self, request: HttpRequest) -> None:
        self.request = request
        self.verdict: ratelimits.Verdict | None = None
        self.name = ""
        self.counted: UUID | None = None
        self.costs = True

    def enter(self, subject: Subject, policy: str, *, costs: bool = True) -> None:
        """Count the request in the tenant's bucket if the membership was proved lately, else in the credential's.

        :raises RateLimited: the bucket is used up; the refusal has Retry-After.
        """
        self.name, self.costs = policy, costs
        tenant_id = _header(self.request) or subject.bound_tenant_id
        known = _proven.get((subject.credential, tenant_id)) if tenant_id else None
        if known is None or known[0] < time.monotonic():
            self._take(f"unproven:{subject.credential}", {})
        else:
            self.counted = tenant_id
            self._take(f"{tenant_id}:{subject.credential}", known[1])

    def enter_tenant(self, actor: Actor) -> None:
        """Count the request in the tenant's bucket, once; remember the membership with the tenant's own limits."""
        if len(_proven) > 50_000:
            _proven.clear()
        until = time.monotonic() + _REMEMBER_SECONDS
        _proven[(actor.subject.credential, actor.tenant_id)] = (until, actor.limits)
        if self.counted != actor.tenant_id:
            self.counted = actor.tenant_id
            self._take(f"{actor.tenant_id}:{actor.subject.credential}", actor.limits)

    def _take(self, bucket: str, limits: dict[str, int]) -> None:
        policy = ratelimits.policy(self.name, limits)
        self.verdict = (ratelimits.take if self.costs else ratelimits.peek)(policy, bucket)
        if self.costs and not self.verdict.allowed:
            wait = self.verdict.reset_seconds
            violated: dict[str, Any] = {"violated-policies": [f"{policy.name}-minute"]}
            raise RateLimited(
                f"The limit of {policy.limit} requests per {policy.window_seconds} s is used up.",
                headers={"Retry-After": str(wait)},
                type="https://iana.org/assignments/http-problem-types#quota-exceeded",
                retry_after=wait,
                **violated,
            )

    def write(self, response: HttpResponseBase) -> None:
        """Write the RateLimit headers of the answer, whatever its status."""
        if self.verdict is not None:
            for name, value in ratelimits.headers(self.verdict).items():
                response.headers[name] = value


def _header(request: HttpRequest) -> UUID | None:
    try:
        return tenant_header(request)
    except PlatformError:
        return None
