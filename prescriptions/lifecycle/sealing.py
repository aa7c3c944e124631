"""Sealing of signed texts with a key of the tenant, bound to their place. Source: contract, prescriptions.md "Snapshot".

Closing a tenant destroys its key, and with it what is sealed here.
"""

import base64
from uuid import UUID

from organizations import public as organizations

_PURPOSE = "snapshot"


def seal(tenant_id: UUID, prescription_id: UUID, text: str) -> str:
    """Seal a text for one prescription as one tenant keeps it.

    :raises organizations.public.KeyDestroyed: the tenant is closed.
    """
    sealed = organizations.seal(tenant_id, text.encode(), purpose=_PURPOSE, place=prescription_id.bytes)
    return base64.b64encode(sealed).decode()


def unseal(tenant_id: UUID, prescription_id: UUID, sealed: str) -> str:
    """Open what `seal` made for the same tenant and prescription.

    :raises organizations.public.KeyDestroyed: the tenant is closed.
    :raises core.crypto.SealBroken: the text was altered, or belongs elsewhere.
    """
    held = base64.b64decode(sealed)
    return organizations.unseal(tenant_id, held, purpose=_PURPOSE, place=prescription_id.bytes).decode()
