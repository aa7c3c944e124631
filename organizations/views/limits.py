"""The endpoint of rate limits and quotas."""

from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse

from api import families, ratelimits
from api.families import style_of
from api.filters import check_names
from api.operations import Operation
from api.views import ApiViewSet
from core import clock
from core.actor import Actor
from core.db import tenant_context
from organizations.queries import entitlements
from organizations.representations.settings import LimitsOut

FAMILIES = ("supplier", "procurement", "availability", "organizations", "webhooks", "fhir", "bulk")


class RateLimitsViewSet(ApiViewSet):
    """Rate limits of the credential, quotas of the tenant. Source: contract, conventions "Quota resource"."""

    family = "platform"
    tag = "Rate limits"
    operation_ids = {"retrieve": "getRateLimits"}
    singleton = True
    operations = {
        "retrieve": Operation(
            "Get rate limits and quotas",
            "Every rate limit with the requests left for this credential in this tenant (of a person for all of their sessions "
            "together), and every quota with its use. "
            "This request is not counted.",
            scope="",
            answer=LimitsOut,
            costs=False,
        )
    }

    def retrieve(self, request: HttpRequest) -> HttpResponse:
        """Answer rate limits and quotas."""
        check_names(request.GET, ())
        actor = self.actor()
        with tenant_context(actor.tenant_id):
            quotas = entitlements.quotas(actor.tenant_id, clock.now())
        policies = [_policy(name, actor) for name in FAMILIES]
        return self.answer(orjson.dumps({"tenant_id": str(actor.tenant_id), "quotas": quotas, "policies": policies}))


def _policy(family: str, actor: Actor) -> dict[str, Any]:
    policy = ratelimits.policy(
        style_of(family, actor.subject).policy if family in families.FAMILIES else family, actor.limits
    )
    verdict = ratelimits.peek(policy, f"{actor.tenant_id}:{actor.subject.limited_by}")
    return {
        "name": family,
        "limit": verdict.limit,
        "window_seconds": verdict.window_seconds,
        "remaining": verdict.remaining,
        "reset_seconds": verdict.reset_seconds,
        "scope": "credential",
    }
