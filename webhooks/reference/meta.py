"""How, when and from where the platform sends, as one document."""

from typing import Any

from django.conf import settings

from core.egress import CONNECT_SECONDS, EXCERPT_BYTES, LONGEST_URL
from webhooks import schedule
from webhooks.actions import ENDPOINT_LIMIT, RESUMABLE
from webhooks.envelope import API_VERSION, LARGEST_BYTES
from webhooks.keys.actions import LIVE_SECRETS
from webhooks.serializers import MOST_INFLIGHT, MOST_PATTERNS, MOST_RPS

_STRINGS = {"type": "array", "items": {"type": "string"}}
_NUMBER = {"type": "number"}
_WHOLE = {"type": "integer"}
_OBJECT = {"type": "object"}

SCHEMA: dict[str, Any] = {
    "title": "WebhookSettings",
    "type": "object",
    "required": ["egress_cidrs", "retries", "timeouts", "limits", "signature", "api_versions", "payload_modes"],
    "properties": {
        "egress_cidrs": {**_STRINGS, "description": "The addresses we send from; empty where none are fixed."},
        "retries": {
            "type": "object",
            "properties": {
                "schedule_seconds": {"type": "array", "items": _NUMBER, "description": "Waits between attempts."},
                "jitter": {**_NUMBER, "description": "Each wait is longer or shorter by up to this share."},
                "attempts": _WHOLE,
                "retry_after_statuses": {"type": "array", "items": _WHOLE},
                "longest_wait_seconds": _WHOLE,
            },
        },
        "timeouts": {"type": "object", "properties": {"connect_seconds": _NUMBER, "total_seconds": _NUMBER}},
        "limits": {"type": "object", "additionalProperties": _WHOLE},
        "signature": {
            "type": "object",
            "properties": {
                "specification": {"type": "string"},
                "headers": _STRINGS,
                "signed_content": {"type": "string"},
                "schemes": {"type": "array", "items": _OBJECT},
            },
        },
        "api_versions": _STRINGS,
        "payload_modes": _STRINGS,
    },
    "examples": [
        {
            "egress_cidrs": ["203.0.113.0/28"],
            "retries": {
                "schedule_seconds": [5, 20, 80],
                "jitter": 0.2,
                "attempts": 4,
                "retry_after_statuses": [429, 503],
                "longest_wait_seconds": 86400,
            },
            "timeouts": {"connect_seconds": 5, "total_seconds": 15},
            "limits": {"endpoints": 100},
            "signature": {
                "specification": "Standard Webhooks 1.0.0",
                "headers": ["webhook-id", "webhook-timestamp", "webhook-signature"],
                "signed_content": "{webhook-id}.{webhook-timestamp}.{body}",
                "schemes": [{"signature": "hmac", "mark": "v1", "algorithm": "HMAC-SHA256", "key_prefix": "whsec_"}],
            },
            "api_versions": ["2026-01-01"],
            "payload_modes": ["thin", "full"],
        }
    ],
}


def describe() -> dict[str, Any]:
    """Write everything a receiver's firewall, verifier and patience need."""
    steps = list(settings.WEBHOOKS_RETRY_SCHEDULE_SECONDS or schedule.DEFAULT)
    return {
        "egress_cidrs": list(settings.WEBHOOKS_EGRESS_CIDRS),
        "retries": {
            "schedule_seconds": steps,
            "jitter": schedule.SPREAD,
            "attempts": len(steps) + 1,
            "retry_after_statuses": sorted(schedule.HEEDED_STATUSES),
            "longest_wait_seconds": schedule.LONGEST_SECONDS,
        },
        "timeouts": {"connect_seconds": CONNECT_SECONDS, "total_seconds": settings.WEBHOOKS_TIMEOUT_SECONDS},
        "limits": _limits(),
        "signature": {
            "specification": "Standard Webhooks 1.0.0",
            "headers": ["webhook-id", "webhook-timestamp", "webhook-signature"],
            "signed_content": "{webhook-id}.{webhook-timestamp}.{body}",
            "schemes": [
                {"signature": "hmac", "mark": "v1", "algorithm": "HMAC-SHA256", "key_prefix": "whsec_"},
                {"signature": "ed25519", "mark": "v1a", "algorithm": "Ed25519", "key_prefix": "whpk_"},
            ],
        },
        "api_versions": [API_VERSION],
        "payload_modes": ["thin", "full"],
    }


def _limits() -> dict[str, int]:
    return {
        "endpoints": ENDPOINT_LIMIT,
        "patterns": MOST_PATTERNS,
        "url_characters": LONGEST_URL,
        "live_secrets": LIVE_SECRETS,
        "max_inflight": MOST_INFLIGHT,
        "max_rps": MOST_RPS,
        "payload_bytes": LARGEST_BYTES,
        "response_excerpt_bytes": EXCERPT_BYTES,
        "resume_hours": int(RESUMABLE.total_seconds() // 3600),
        "retention_days": settings.WEBHOOKS_HISTORY_DAYS,
    }
