"""HTTP of what the caller may still do: rate limits of his credential and quotas of his tenant."""

from typing import Any, ClassVar

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

from .settings import QUOTA_EXAMPLE, QUOTA_SCHEMA

FAMILIES = ("supplier", "procurement", "availability", "organizations", "webhooks", "fhir", "bulk")

LIMITS_SCHEMA: dict[str, Any] = {
    "title": "RateLimits",
    "type": "object",
    "required": ["tenant_id", "quotas", "policies"],
    "properties": {
        "tenant_id": {"type": "string", "format": "uuid"},
        "quotas": {"type": "array", "items": QUOTA_SCHEMA},
        "policies": {
            "type": "array",
            "items": {
                "title": "RateLimitPolicy",
                "type": "object",
                "required": ["name", "limit", "window_seconds", "remaining", "reset_seconds", "scope"],
                "properties": {
                    "name": {"type": "string"},
                    "limit": {"type": "integer"},
                    "window_seconds": {"type": "integer"},
                    "remaining": {"type": "integer"},
                    "reset_seconds": {"type": "integer"},
                    "scope": {"type": "string"},
                },
            },
        },
    },
    "examples": [
        {
            "tenant_id": "0190a5d2-7c1e-7b3a-9f00-00000000000a",
            "quotas": [QUOTA_EXAMPLE],
            "policies": [
                {
                    "name": "supplier",
                    "limit": 600,
                    "window_seconds": 60,
                    "remaining": 587,
                    "reset_seconds": 42,
                    "scope": "credential",
                }
            ],
        }
    ],
}


class RateLimitsViewSet(ApiViewSet):
    """The limits as they stand; asking costs nothing. Source: contract, conventions "Quota resource"."""

    family = "platform"
    tag = "Rate limits"
    operation_ids: ClassVar = {"list": "getRateLimits"}
    operations: ClassVar = {
        "list": Operation(
            scope="",
            summary="Get rate limits and quotas",
            description="Every policy with what is left of it for this credential in this tenant. Reading it costs nothing.",
            answer=LIMITS_SCHEMA,
            costs=False,
        )
    }

    def list(self, request: HttpRequest) -> HttpResponse:
        """Answer the policies and the quotas."""
        check_names(request.GET, ())
        actor, _ = self.read(lambda _: ())
        with tenant_context(actor.tenant_id):
            quotas = entitlements.quotas(actor.tenant_id, clock.now())
        policies = [_policy(name, actor) for name in FAMILIES]
        return self.answer(orjson.dumps({"tenant_id": str(actor.tenant_id), "quotas": quotas, "policies": policies}))


def _policy(family: str, actor: Actor) -> dict[str, Any]:
    policy = ratelimits.policy(
        style_of(family, actor.subject).policy if family in families.FAMILIES else family, actor.limits
    )
    verdict = ratelimits.peek(policy, f"{actor.tenant_id}:{actor.subject.credential}")
    return {
        "name": family,
        "limit": verdict.limit,
        "window_seconds": verdict.window_seconds,
        "remaining": verdict.remaining,
        "reset_seconds": verdict.reset_seconds,
        "scope": "credential",
    }
