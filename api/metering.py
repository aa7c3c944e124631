"""The count of a request against its rate limit: one call to Valkey, by tenant and, for a person, by subject, else by credential."""

import math
import time
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from core import budgets
from core.actor import Actor, Subject
from core.errors import PlatformError, TooMany

from . import ratelimits
from .authentication import tenant_header
from .transport import CREDENTIAL, TENANT

COUNTED = "platform.counted"  # in the environ: the request is part of another, which counts for it

_REMEMBER_SECONDS = 60
_SECONDS = {"GET": "read_seconds", "HEAD": "read_seconds"}  # entitlements by which a request may take longer
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
        self.bucket = ""
        self.limits: dict[str, int] = {}

    def enter(self, subject: Subject, policy: str, *, costs: bool = True) -> None:
        """Count the request in the tenant's bucket if the membership was proved lately, else in the subject's.

        :raises RateLimited: the bucket is used up; the refusal has Retry-After.
        """
        self.name, self.costs = policy, costs
        self.request.META[CREDENTIAL] = subject.credential
        tenant_id = _header(self.request) or subject.bound_tenant_id
        known = _proven.get((subject.limited_by, tenant_id)) if tenant_id else None
        if known is None or known[0] < time.monotonic():
            self._take(f"unproven:{subject.limited_by}", {})
        else:
            self.counted = tenant_id
            self._take(f"{tenant_id}:{subject.limited_by}", known[1])

    def enter_tenant(self, actor: Actor) -> None:
        """Count the request in the tenant's bucket, once; remember the membership with the tenant's own limits."""
        if len(_proven) > 50_000:
            _proven.clear()
        self.request.META[TENANT] = str(actor.tenant_id)
        if actor.limits:
            budgets.raise_to(actor.limits.get(_SECONDS.get(self.request.method or "", "write_seconds")))
        until = time.monotonic() + _REMEMBER_SECONDS
        _proven[(actor.subject.limited_by, actor.tenant_id)] = (until, actor.limits)
        if self.counted != actor.tenant_id:
            self.counted = actor.tenant_id
            self._take(f"{actor.tenant_id}:{actor.subject.limited_by}", actor.limits)

    def charge(self, amount: int, *, of_unit: int) -> None:
        """Count a request that asks for much as more than one: a unit for each `of_unit` begun.

        :raises RateLimited: the bucket has not as many; nothing is taken then.
        """
        if (further := math.ceil(amount / of_unit) - 1) > 0:
            self._spend(further)

    def _take(self, bucket: str, limits: dict[str, int]) -> None:
        self.bucket, self.limits = bucket, limits
        if COUNTED not in self.request.META:
            self._spend(1)

    def _spend(self, units: int) -> None:
        policy = ratelimits.policy(self.name, self.limits)
        self.verdict = (
            ratelimits.take(policy, self.bucket, units) if self.costs else ratelimits.peek(policy, self.bucket)
        )
        if self.costs and not self.verdict.allowed:
            wait = self.verdict.reset_seconds
            violated: dict[str, Any] = {"violated-policies": [f"{policy.name}-minute"]}
            text = f" The request needs {units} more." if units > 1 else ""
            raise RateLimited(
                f"The limit of {policy.limit} requests per {policy.window_seconds} s is used up.{text}",
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
