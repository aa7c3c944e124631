"""The `webhooks` of the OpenAPI document: one request for each kind of event, as a receiver gets it."""

from typing import Any

from ledger import public as ledger
from ledger.public import EventType
from webhooks import catalogue
from webhooks.envelope import API_VERSION, SEQUENCE_DIGITS

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_HEADERS: dict[str, tuple[str, str, Schema]] = {
    "WebhookId": ("webhook-id", "The event's id, the same on every retry, redelivery and replay.", _TEXT),
    "WebhookTimestamp": (
        "webhook-timestamp",
        "When the message was sent, in whole seconds since 1970. Refuse what is older than five minutes.",
        {"type": "string", "pattern": "^[0-9]+$"},
    ),
    "WebhookSignature": (
        "webhook-signature",
        "Signatures of `{webhook-id}.{webhook-timestamp}.{body}`: `v1,` (HMAC-SHA256) or `v1a,` (Ed25519) and Base64.",
        _TEXT,
    ),
}
_ANSWERS: dict[str, tuple[str, str]] = {
    "2XX": ("WebhookReceived", "The message was received."),
    "410": ("WebhookUnwanted", "Nobody wants these messages any more: the endpoint is disabled."),
    "429": ("WebhookPostponed", "The receiver is busy; `Retry-After` is heeded."),
    "503": ("WebhookPostponed", "The receiver is busy; `Retry-After` is heeded."),
    "default": ("WebhookFailed", "The message was not received; it is sent again, see `GET /v1/webhooks/meta`."),
}
_SIGNATURE: Schema = {
    "type": "apiKey",
    "in": "header",
    "name": "webhook-signature",
    "description": "Messages of the platform are signed by Standard Webhooks 1.0.0 with the endpoint's secret (`whsec_…`) or "
    "key (`whpk_…`). Verify the signature over the raw body before reading it.",
}


def add_webhooks(result: Schema, **_: Any) -> Schema:
    """Add what the platform sends to what it answers."""
    components = result.setdefault("components", {})
    components.setdefault("parameters", {}).update(
        {
            key: {"name": name, "in": "header", "required": True, "description": text, "schema": schema}
            for key, (name, text, schema) in _HEADERS.items()
        }
    )
    components.setdefault("responses", {}).update({name: {"description": text} for name, text in _ANSWERS.values()})
    components.setdefault("securitySchemes", {})["webhookSignature"] = _SIGNATURE
    schemas = components.setdefault("schemas", {})
    schemas["EventMessage"] = _envelope()
    result["webhooks"] = {}
    for kind in ledger.catalogue().values():
        described = catalogue.describe(kind)
        schemas[_name(kind)] = _message(kind, described)
        result["webhooks"][kind.type] = {"post": _operation(kind, described)}
    return result


def _words(kind: type[EventType]) -> list[str]:
    return kind.type.replace(".", "_").split("_")


def _name(kind: type[EventType]) -> str:
    return "".join(word.capitalize() for word in _words(kind)) + "Message"


def _operation(kind: type[EventType], described: Schema) -> Schema:
    return {
        "operationId": "on" + "".join(word.capitalize() for word in _words(kind)),
        "tags": ["Event messages"],
        "summary": described["description"] or kind.type,
        "description": f"Class of the data behind it: `{kind.data_class}`.",
        "security": [{"webhookSignature": []}],
        "parameters": [{"$ref": f"#/components/parameters/{name}"} for name in _HEADERS],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": {"$ref": f"#/components/schemas/{_name(kind)}"},
                    "example": _example(kind, described),
                }
            },
        },
        "responses": {status: {"$ref": f"#/components/responses/{name}"} for status, (name, _) in _ANSWERS.items()},
    }


def _message(kind: type[EventType], described: Schema) -> Schema:
    thing = {name: value for name, value in described["schema"].items() if name != "$schema"}
    own: Schema = {
        "type": "object",
        "properties": {
            "type": {"type": "string", "enum": [kind.type]},
            "data": {"type": "object", "properties": {"object": thing}},
        },
    }
    return {"description": described["description"], "allOf": [{"$ref": "#/components/schemas/EventMessage"}, own]}


def _envelope() -> Schema:
    data: Schema = {
        "type": "object",
        "required": ["object"],
        "properties": {
            "object": {"type": "object", "description": "What the event is about."},
            "previous": {"type": "object", "description": "What changed members were before."},
            "object_omitted": {
                "type": "string",
                "description": "Why a full payload is thin all the same: `too_large`.",
            },
        },
    }
    members: Schema = {
        "id": {"type": "string", "pattern": "^evt_[0-9a-f]{32}$"},
        "type": _TEXT,
        "api_version": {"type": "string", "const": API_VERSION},
        "timestamp": {"type": "string", "format": "date-time"},
        "tenant_id": {"type": "string", "format": "uuid"},
        "sequence": {"type": "string", "pattern": f"^[0-9]{{{SEQUENCE_DIGITS}}}$"},
        "request_id": _TEXT,
        "test": {"type": "boolean"},
        "data": data,
    }
    text = "The envelope of every message; `GET /v1/events` lists the same."
    return {"type": "object", "description": text, "required": list(members), "properties": members}


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
