"""Live signing keys on the wire; the value is never among the members."""

from api import shapes
from api.listing import Listing
from webhooks.models import Secret

SECRET = shapes.Shape(
    name="webhook secret",
    model=Secret,
    fields=(
        shapes.uuid("id"),
        shapes.choice("kind", Secret.Kind.values),
        shapes.computed(
            "public_key",
            "NULLIF(t.\"public_key\", '')",
            {
                "type": ["string", "null"],
                "pattern": "^whpk_",
                "description": "With which receivers verify; only of an ed25519 pair.",
            },
        ),
        shapes.instant("created_at"),
        shapes.instant("expires_at").nullable().described("The end of its overlap; null for the current one."),
        shapes.instant("last_used_at").nullable().described("When it last signed, to the minute or coarser."),
    ),
    version=None,
    where=Secret.VALIDITY.holds_now("t"),
    example={
        "id": "0199f2c0-5b1e-7c3a-9d44-0a6c2f1e8b91",
        "kind": "hmac",
        "public_key": None,
        "created_at": "2026-01-01T12:00:00.000Z",
        "expires_at": None,
        "last_used_at": "2026-01-02T08:30:00.000Z",
    },
)
SECRETS = Listing(SECRET)
