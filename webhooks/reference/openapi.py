"""The `webhooks` of the OpenAPI document: one request for each kind of event, as a receiver gets it."""

from typing import Any

from ledger import public as ledger
from ledger.public import EventType
from webhooks import catalogue
from webhooks.envelope import API_VERSION, SEQUENCE_DIGITS

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_HEADERS: tuple[tuple[str, str, Schema], ...] = (
    ("webhook-id", "The event's id, the same on every retry, resend and replay.", {"type": "string"}),
    ("webhook-timestamp", "When it was sent, in whole seconds since 1970.", {"type": "string", "pattern": "^[0-9]+$"}),
    (
        "webhook-signature",
        "Signatures of `{webhook-id}.{webhook-timestamp}.{body}`, by blanks: `v1,` (HMAC) or `v1a,` (Ed25519) and Base64.",
        {"type": "string"},
    ),
)
_ANSWERS: Schema = {
    "2XX": {"description": "Taken."},
    "410": {"description": "Nobody wants this any more: the endpoint is disabled."},
    "429": {"description": "Later; `Retry-After` is heeded."},
    "503": {"description": "Later; `Retry-After` is heeded."},
    "default": {"description": "Not taken: tried again by the schedule of `GET /v1/webhooks/meta`."},
}


def add_webhooks(result: Schema, **_: Any) -> Schema:
    """Add what the platform sends to what it answers."""
    result["webhooks"] = {kind.type: {"post": _operation(kind)} for kind in ledger.catalogue().values()}
    return result


def _operation(kind: type[EventType]) -> Schema:
    described = catalogue.describe(kind)
    return {
        "operationId": "webhook_" + kind.type.replace(".", "_"),
        "tags": ["Events"],
        "summary": described["description"],
        "description": f"Class of data behind it: `{kind.data_class}`. Signed by Standard Webhooks 1.0.0.",
        "parameters": [
            {"name": name, "in": "header", "required": True, "description": text, "schema": schema}
            for name, text, schema in _HEADERS
        ],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": _envelope(kind, described), "example": _example(kind, described)}
            },
        },
        "responses": _ANSWERS,
    }


def _envelope(kind: type[EventType], described: Schema) -> Schema:
    data: Schema = {
        "type": "object",
        "required": ["object"],
        "properties": {
            "object": {name: value for name, value in described["schema"].items() if name != "$schema"},
            "previous": {"type": "object", "description": "What changed members were before."},
            "object_omitted": {
                "type": "string",
                "description": "Why a full payload is thin all the same: `too_large`.",
            },
        },
    }
    members: Schema = {
        "id": {"type": "string", "pattern": "^evt_[0-9a-f]{32}$"},
        "type": {"const": kind.type},
        "api_version": {"const": API_VERSION},
        "timestamp": {"type": "string", "format": "date-time"},
        "tenant_id": {"type": "string", "format": "uuid"},
        "sequence": {"type": "string", "pattern": f"^[0-9]{{{SEQUENCE_DIGITS}}}$"},
        "request_id": _TEXT,
        "test": {"type": "boolean"},
        "data": data,
    }
    return {"type": "object", "required": list(members), "properties": members}


def _example(kind: type[EventType], described: Schema) -> Schema:
    return {
        "id": "evt_0199f2c05b1e7c3a9d440a6c2f1e8b93",
        "type": kind.type,
        "api_version": API_VERSION,
        "timestamp": "2026-01-01T12:00:00.000Z",
        "tenant_id": "0199f2c0-5b1e-7c3a-9d44-0a6c2f1e8b96",
        "sequence": "1".zfill(SEQUENCE_DIGITS),
        "request_id": "0199f2c0-5b1e-7c3a-9d44-0a6c2f1e8b97",
        "test": False,
        "data": {"object": described["example"]},
    }
