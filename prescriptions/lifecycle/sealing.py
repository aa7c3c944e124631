"""Sealing of signed texts with a key of the tenant, bound to their place. Source: contract, prescriptions.md "Snapshot"."""

import base64
from uuid import UUID

from core.crypto import key_ring

_PURPOSE = "snapshot"


def seal(tenant_id: UUID, prescription_id: UUID, text: str) -> str:
    """Seal a text for one prescription as one tenant keeps it."""
    sealed = key_ring().seal(text.encode(), purpose=_PURPOSE, place=_place(tenant_id, prescription_id))
    return base64.b64encode(sealed).decode()


def unseal(tenant_id: UUID, prescription_id: UUID, sealed: str) -> str:
    """Open what `seal` made for the same tenant and prescription.

    :raises core.crypto.SealBroken: the text was altered, or belongs elsewhere.
    """
    held = base64.b64decode(sealed)
    return key_ring().open(held, purpose=_PURPOSE, place=_place(tenant_id, prescription_id)).decode()


def _place(tenant_id: UUID, prescription_id: UUID) -> bytes:
    return f"{tenant_id}/{prescription_id}".encode()
