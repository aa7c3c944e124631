"""How, when and from where the platform sends, as one document."""

from typing import Any

from django.conf import settings

from core.egress import CONNECT_SECONDS, EXCERPT_BYTES, LONGEST_URL
from webhooks import schedule
from webhooks.actions import RESUMABLE
from webhooks.envelope import API_VERSION, LARGEST_BYTES
from webhooks.keys.actions import LIVE_SECRETS
from webhooks.models import Endpoint
from webhooks.serializers import MOST_INFLIGHT, MOST_PATTERNS, MOST_RPS

ENDPOINT_LIMIT = 100  # of every plan; a tenant's entitlements tell its own


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
        "payload_modes": Endpoint.PayloadMode.values,
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
