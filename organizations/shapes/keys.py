"""API keys on the wire: never the secret, except in the answer that makes one."""

from api import shapes
from api.listing import CREATED, Listing, Sort
from api.shapes import Schema, Shape
from organizations.filters.keys import EFFECTIVE_STATUS, ApiKeyFilters
from organizations.models import ApiKey

_NULLABLE_UUID = {"type": ["string", "null"], "format": "uuid"}
SECRET = "api_key"  # noqa: S105 # the name of the member, not a secret

API_KEY = Shape(
    name="API key",
    model=ApiKey,
    fields=(
        shapes.uuid("id"),
        shapes.uuid("tenant_id"),
        shapes.uuid("membership_id"),
        shapes.text("key_id"),
        shapes.computed(
            "prefix",
            "'hpk_' || t.\"environment\" || '_' || t.\"key_id\"",
            {"type": "string", "description": "How the key begins."},
        ),
        shapes.text("last4"),
        shapes.text("name"),
        shapes.text("partner"),
        shapes.strings("roles"),
        shapes.strings("scopes"),
        shapes.strings("allowed_cidrs"),
        shapes.choice("environment", ApiKey.Environment.values),
        shapes.computed(
            "status", EFFECTIVE_STATUS, {"type": "string", "x-extensible-enum": list(ApiKey.Status.values)}
        ),
        shapes.instant("expires_at"),
        shapes.instant("overlap_ends_at").nullable(),
        shapes.instant("last_used_at").nullable(),
        shapes.computed("last_used_ip", 'host(t."last_used_ip")', {"type": ["string", "null"]}),
        shapes.integer("usage_count"),
        shapes.uuid("rotated_from_id").nullable(),
        shapes.computed(
            "replaced_by_id", 'SELECT k.id FROM organizations_apikey k WHERE k.rotated_from_id = t."id"', _NULLABLE_UUID
        ),
        shapes.uuid("created_by").nullable(),
        shapes.integer("version"),
        shapes.instant("created_at"),
        shapes.instant("updated_at"),
    ),
    example={
        "id": "0190a5d2-7c1e-7b3a-9f00-0000000000ba",
        "tenant_id": "0190a5d2-7c1e-7b3a-9f00-00000000000a",
        "membership_id": "0190a5d2-7c1e-7b3a-9f00-0000000000bb",
        "key_id": "Xk20fa8Q",
        "prefix": "hpk_live_Xk20fa8Q",
        "last4": "9aZ0",
        "name": "Warehouse system",
        "partner": "Acme ERP",
        "roles": ["supplier_integration"],
        "scopes": ["catalog.read", "catalog.write"],
        "allowed_cidrs": [],
        "environment": "live",
        "status": "active",
        "expires_at": "2027-01-05T08:00:00.000Z",
        "overlap_ends_at": None,
        "last_used_at": None,
        "last_used_ip": None,
        "usage_count": 0,
        "rotated_from_id": None,
        "replaced_by_id": None,
        "created_by": "0190a5d2-7c1e-7b3a-9f00-0000000000ac",
        "version": 1,
        "created_at": "2026-01-05T08:00:00.000Z",
        "updated_at": "2026-01-05T08:00:00.000Z",
    },
)
API_KEYS = Listing(
    shape=API_KEY,
    filters=ApiKeyFilters,
    sorts={**CREATED, "name": Sort("name", "text"), "expires_at": Sort("expires_at", "timestamptz")},
)


def new_key_schema() -> Schema:
    """The schema of the answer that shows the secret, once."""
    schema = API_KEY.schema()
    secret = {"type": "string", "description": "The whole key. It is shown in this answer only."}
    return {
        **schema,
        "title": "NewApiKey",
        "required": [*schema["required"], SECRET],
        "properties": {**schema["properties"], SECRET: secret},
        "examples": [{**(API_KEY.example or {}), SECRET: "hpk_live_Xk20fa8Q_" + "0" * 34 + "9aZ0"}],
    }
