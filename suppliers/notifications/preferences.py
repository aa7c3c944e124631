"""How a tenant wants to be told, with the defaults of what it has not settled. Source: contract, supply-order.md 5."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, time
from typing import Any, Final, NamedTuple
from uuid import UUID

from core.actor import Actor
from core.conditions import TENANT
from core.db import needs_transaction
from core.errors import FieldError
from core.pipeline import Call, Rows, Statement, run

from .models import NotificationPreference
from .quiet_hours import QuietHours, mail_at
from .refusals import MandatoryAlert
from .states import CHANNELS, EXPIRY_DAYS, MANDATORY, TOLD, Type

DEFAULT: Final[Mapping[str, Any]] = {"in_app": True, "email": True, "webhook": True, "threshold": None}
# So that of two who write the first preferences, the second finds what the first has written.
_LOCK: Final = Statement.of("SELECT pg_advisory_xact_lock(hashtextextended('notification preferences ' || $1, 0))")
_DAYS: Final = f"'{{{','.join(map(str, EXPIRY_DAYS))}}}'"

# One row: the preferences of the bound tenant, with the default of each column that it has not stored.
PREFERENCES: Final = (
    "SELECT coalesce(p.id, n.id) AS id, n.id AS tenant_id, n.time_zone, coalesce(p.channels, '{}') AS channels,"
    f" coalesce(p.expiry_days, {_DAYS}) AS expiry_days, p.low_stock_default, coalesce(p.digest, 'immediate') AS digest,"
    " p.quiet_from, p.quiet_to, coalesce(p.quiet_zone, '') AS quiet_zone, coalesce(p.version, 1) AS version,"
    " coalesce(p.created_at, n.created_at) AS created_at, coalesce(p.updated_at, n.created_at) AS updated_at"
    " FROM organizations_tenant n LEFT JOIN suppliers_notificationpreference p ON p.tenant_id = n.id"
    f" AND p.tenant_id = {TENANT} WHERE n.id = {TENANT}"
)


class _Row(NamedTuple):
    """The stored columns, or their defaults."""

    time_zone: str
    channels: Any
    days: Any
    low_stock_default: int | None
    digest: str
    quiet_from: str | None
    quiet_to: str | None
    quiet_zone: str


_READ = Statement.of(
    "SELECT f.time_zone, f.channels, to_json(f.expiry_days) AS days, f.low_stock_default, f.digest, f.quiet_from::text,"
    f" f.quiet_to::text, f.quiet_zone FROM ({PREFERENCES.replace(TENANT, '$1')}) f",
    row=_Row,
)


@dataclass(frozen=True, slots=True)
class Preferences:
    """What a tenant has settled; `zone` is the tenant's own."""

    zone: str
    channels: Mapping[str, Mapping[str, Any]]
    expiry_days: tuple[int, ...]
    low_stock_default: int | None
    digest: str
    quiet: QuietHours | None

    def wants(self, kind: str, channel: str) -> bool:
        """Tell whether notifications of a type go through a channel."""
        return kind in MANDATORY or bool(self.channels.get(kind, DEFAULT).get(channel, True))

    def tells(self, kind: str, value: int | None) -> bool:
        """Tell whether a number of units or days is low enough for an alert of a type."""
        threshold = self.channels.get(kind, DEFAULT).get("threshold")
        return threshold is None or value is None or value <= threshold

    def mail_at(self, kind: str, at: datetime) -> datetime:
        """Return when the mail about something that happened at `at` goes out."""
        if kind in MANDATORY:
            return at
        return mail_at(at, digest=self.digest, quiet=self.quiet, zone=self.zone)


def preferences_call(tenant_id: UUID) -> Call:
    """Return the statement that reads the preferences of the bound tenant; see `preferences_of`."""
    return Call(_READ, [str(tenant_id)])


def preferences_of(found: Rows) -> Preferences:
    """Return the preferences."""
    (row,) = found.of(_Row)
    quiet = None
    if row.quiet_from and row.quiet_to:
        quiet = QuietHours(time.fromisoformat(row.quiet_from), time.fromisoformat(row.quiet_to), row.quiet_zone)
    return Preferences(row.time_zone, row.channels, tuple(row.days), row.low_stock_default, row.digest, quiet)


@needs_transaction
def locked_preferences(actor: Actor) -> NotificationPreference:
    """Return the tenant's preferences, locked until the transaction ends; not saved yet if there are none."""
    run([Call(_LOCK, [str(actor.tenant_id)])])
    rows = NotificationPreference.objects.of(actor).select_for_update(no_key=True)
    found: NotificationPreference | None = rows.first()
    return found or NotificationPreference(tenant_id=actor.tenant_id)


@needs_transaction
def replace_preferences(
    actor: Actor, target: NotificationPreference, data: Mapping[str, Any], at: datetime
) -> NotificationPreference:
    """Replace locked preferences, or write the first ones; what is left out takes its default.

    If nothing differs, nothing is written.

    :raises MandatoryAlert: a channel is switched off that must stay on.
    """
    _check_mandatory(data["types"])
    quiet = data["quiet_hours"] or {"from": None, "to": None, "timezone": ""}
    given = {
        "channels": {kind: {**one} for kind, one in data["types"].items() if one != DEFAULT},
        "expiry_days": sorted(set(data["expiry_days"]), reverse=True),
        "low_stock_default": data["low_stock_default"],
        "digest": data["digest"],
        "quiet_from": quiet["from"],
        "quiet_to": quiet["to"],
        "quiet_zone": quiet["timezone"],
    }
    changed = target.assign(given)
    if target._state.adding:
        if not changed:
            return target
        target.version, target.created_at, target.updated_at = target.version + 1, at, at
        target.save(force_insert=True)
    elif changed:
        target.save_version(*changed, at=at)
    return target


def _check_mandatory(types: Mapping[str, Mapping[str, Any]]) -> None:
    errors = [
        FieldError(f"types.{kind}.{channel}", "mandatory_alert", "This cannot be switched off.")
        for kind in TOLD
        if kind in types
        for channel in CHANNELS
        if not types[kind][channel] and (kind in MANDATORY or (kind == Type.MESSAGE and channel != "email"))
    ]
    if errors:
        raise MandatoryAlert(errors=errors)
