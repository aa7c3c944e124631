"""The supplier's bank account, sealed under the tenant's key; of it only the last four characters are kept in the open."""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from organizations.public import seal, unseal

from .models import SupplierProfile

_PURPOSE: Final = "supplier-bank-account"
_PLACE: Final = b"profile"


def opened(profile: SupplierProfile) -> dict[str, str] | None:
    """Return IBAN, BIC and holder; None for a supplier without a bank account."""
    if profile.bank_account is None:
        return None
    plain = unseal(profile.tenant_id, bytes(profile.bank_account), purpose=_PURPOSE, place=_PLACE)
    found: dict[str, str] = orjson.loads(plain)
    return found


def replace(profile: SupplierProfile, given: Mapping[str, Any] | None) -> bool:
    """Put another bank account into a locked profile, or None; tell whether it is another. Staff have to see it anew."""
    wanted = None if given is None else {"iban": given["iban"], "bic": given["bic"] or "", "holder": given["holder"]}
    if wanted == opened(profile):
        return False
    profile.bank_account = (
        None if wanted is None else seal(profile.tenant_id, orjson.dumps(wanted), purpose=_PURPOSE, place=_PLACE)
    )
    profile.bank_account_last4 = wanted["iban"][-4:] if wanted else ""
    profile.bank_reviewed_at = None
    return True
