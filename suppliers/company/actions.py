"""Actions of a supplier on its own profile. Source: contract, supply-shelf.md "Company"."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from core.actor import Actor
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields
from core.pipeline import run
from ledger import public as ledger

from . import bank_accounts, buyer_groups, licenses
from .events import SupplierUpdated
from .models import SupplierProfile
from .queries import known_categories
from .settings import DEFAULTS

# What staff have seen when they reviewed who the supplier is.
IDENTITY: Final = frozenset({"legal_name", "country", "registrations"})
_BANK_COLUMNS: Final = ("bank_account", "bank_account_last4", "bank_reviewed_at")


@needs_transaction
def update_profile(actor: Actor, profile: SupplierProfile, data: Mapping[str, Any], at: datetime) -> SupplierProfile:
    """Change what the body names of a locked profile; if nothing differs, nothing is written.

    Another identity, bank account or licence has to be reviewed by staff anew; the qualification stays meanwhile.

    :raises InvalidFields: a category, a buyer, an organization or the file of a licence does not exist.
    """
    _check(data)
    plain = {name: data[name] for name in SupplierProfile.WRITABLE if name in data}
    if "order_settings" in plain:
        plain["order_settings"] = _settings(profile, data["order_settings"])
    changed = profile.assign(plain)
    columns = [*changed]
    if IDENTITY & set(changed) and profile.identity_reviewed_at is not None:
        profile.identity_reviewed_at = None
        columns.append("identity_reviewed_at")
    if "bank_account" in data and bank_accounts.replace(profile, data["bank_account"]):
        changed.append("bank_account")
        columns += _BANK_COLUMNS
    if "licenses" in data and licenses.replace(actor, data["licenses"], at):
        changed.append("licenses")
    if "buyer_groups" in data and buyer_groups.replace(actor, data["buyer_groups"], at):
        changed.append("buyer_groups")
    if changed:
        save(profile, *columns, at=at)
        tell(actor, profile, changed, at)
    return profile


def save(profile: SupplierProfile, *columns: str, at: datetime) -> None:
    """Save the next version of a locked profile; the first one that is stored follows that of the defaults."""
    if not profile._state.adding:
        profile.save_version(*columns, at=at)
        return
    profile.version += 1
    profile.created_at = profile.updated_at = at
    profile.save(force_insert=True)


def tell(actor: Actor, profile: SupplierProfile, changed: list[str], at: datetime) -> None:
    """Record that members of a profile changed."""
    fact = SupplierUpdated(changed=sorted(changed), qualification_status=profile.qualification_status)
    ledger.record(actor=actor, event=fact, resource_id=profile.tenant_id, at=at, resource_version=profile.version)


def _settings(profile: SupplierProfile, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what differs from the defaults, once the given settings are laid over the stored ones."""
    merged = {**DEFAULTS, **profile.order_settings, **given}
    return {name: value for name, value in merged.items() if value != DEFAULTS[name]}


def _check(data: Mapping[str, Any]) -> None:
    """Check what a serializer cannot know.

    :raises InvalidFields: names each category, buyer and organization that does not exist.
    """
    errors = buyer_groups.unknown(data.get("buyer_groups", ()))
    if wanted := data.get("categories", ()):
        (found,) = run([known_categories(wanted)])
        known = {(found.value(number) or b"").decode() for number in range(len(found))}
        errors += [
            FieldError(f"categories.{number}", "unknown_category", "There is no such active category of the platform.")
            for number, code in enumerate(wanted)
            if code not in known
        ]
    if errors:
        raise InvalidFields(errors=errors)
