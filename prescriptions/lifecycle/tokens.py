"""The token by which a patient lets any pharmacy claim a signed prescription.

26 characters of Crockford's base32, 128 random bits; case, spaces and hyphens do not matter, and the letters that look like
digits are read as them. Source: contract, prescriptions.md "Routing"; Crockford, Base 32.
"""

import hashlib
import secrets
from collections.abc import Iterable
from datetime import datetime
from typing import Final
from uuid import UUID

from core.arrays import array_literal
from core.pipeline import Call, Statement

from .models import Prescription

ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH: Final = 26
_LOOKALIKES: Final = str.maketrans({"O": "0", "I": "1", "L": "1", " ": "", "-": ""})
_FORGET = Statement.of("DELETE FROM prescriptions_prescriptiontoken WHERE prescription_id = $1 AND tenant_id = $2")
_FORGET_ALL = Statement.of(
    "DELETE FROM prescriptions_prescriptiontoken WHERE prescription_id = ANY($1::uuid[]) AND tenant_id = $2"
)
_KEEP = Statement.of(
    "INSERT INTO prescriptions_prescriptiontoken (prescription_id, tenant_id, digest, expires_at, created_at)"
    " VALUES ($1, $2, $3, $4, $5) ON CONFLICT (prescription_id) DO UPDATE"
    " SET digest = EXCLUDED.digest, expires_at = EXCLUDED.expires_at, created_at = EXCLUDED.created_at"
)


def new_token() -> str:
    """Make a token."""
    number = secrets.randbits(128)
    return "".join(ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5))


def digest_of(text: str) -> str:
    """Return the digest of a token as somebody wrote, scanned or dictated it; "" for what is no token."""
    plain = text.upper().translate(_LOOKALIKES)
    if len(plain) != LENGTH or any(letter not in ALPHABET for letter in plain):
        return ""
    return hashlib.sha256(plain.encode()).hexdigest()


def keep_call(row: Prescription, token: str, at: datetime) -> Call:
    """Return the statement that stores a token's digest in place of the former one."""
    assert row.expires_at is not None
    ends = row.expires_at.isoformat()
    return Call(_KEEP, [str(row.id), str(row.tenant_id), digest_of(token), ends, at.isoformat()])


def forget_call(row: Prescription) -> Call:
    """Return the statement that ends a prescription's token."""
    return Call(_FORGET, [str(row.id), str(row.tenant_id)])


def forget_all_call(tenant_id: UUID, prescription_ids: Iterable[UUID]) -> Call:
    """Return the statement that ends the tokens of several prescriptions of a tenant."""
    return Call(_FORGET_ALL, [array_literal(prescription_ids), str(tenant_id)])
