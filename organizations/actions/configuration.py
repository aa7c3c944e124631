"""Changes of settings: merged by section, checked against schema, locks and entitlement, and kept as a version."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction, tenant_context
from core.errors import FieldError, Forbidden, InvalidFields
from ledger import public as ledger
from organizations import configuration_schema, events
from organizations.configuration_schema import SCHEMA_VERSION, SECTIONS, Sections
from organizations.models import (
    ConfigurationVersion,
    Entitlement,
    Organization,
    OrganizationConfiguration,
    Tenant,
    TenantConfiguration,
)
from organizations.queries import configuration
from organizations.queries.tree import ORGANIZATIONS

from .entitlements import copy_features


class SettingLocked(Forbidden):
    """An organization above the tenant has locked this setting."""

    code = "setting_locked"
    title = "The setting is locked by an organization above."
    extensions = {"locked": ["policies.prescription_validity_days"]}


class FeatureNotEnabled(Forbidden):
    """The tenant's plan does not include the feature."""

    code = "feature_not_enabled"
    title = "The tenant's plan does not include this feature."
    extensions = {"feature": "marketplace"}


class Change(NamedTuple):
    """The change of one setting; None stands for "not set"."""

    key: str
    before: Any
    after: Any


@needs_transaction
def create_default(*, tenant: Tenant, at: datetime) -> TenantConfiguration:
    """Create the empty configuration of a tenant; a second call changes nothing."""
    with tenant_context(tenant.id):
        row, _ = TenantConfiguration.objects.get_or_create(
            tenant_id=tenant.id, defaults={"schema_version": SCHEMA_VERSION, "created_at": at, "updated_at": at}
        )
    return row


@needs_transaction
def update_configuration(
    actor: Actor, row: TenantConfiguration, data: Mapping[str, Any], at: datetime
) -> configuration.Effective:
    """Merge changes into the tenant's own settings; `row` is locked. Source: RFC 7396.

    Null resets a setting, or a whole section, to the inherited value. If nothing changes, no version is written.

    :raises InvalidFields: settings are unknown or invalid, or the contrast of two colours is too low.
    :raises SettingLocked: an organization above has locked a changed setting.
    :raises FeatureNotEnabled: a module is turned on that the plan does not include.
    """
    before = configuration.sections_of(row)
    after = merged(before, data)
    diff = difference(before, after)
    if diff:
        _check_permitted(actor.tenant_id, after, diff)
        _write(row, after, at)
        _keep_version(actor, row, diff, at)
        copy_features(actor.tenant_id)
    return configuration.effective(actor.tenant_id)


@needs_transaction
def set_organization_configuration(
    *, organization: Organization, changes: Mapping[str, Any], locked: Sequence[str] | None, at: datetime
) -> OrganizationConfiguration:
    """Merge changes into the settings of an organization, which hold for every tenant below it.

    :param locked: the settings that tenants cannot change; None keeps the present ones.
    :raises InvalidFields: settings are unknown or invalid, or `locked` names an unknown one.
    """
    row, _ = OrganizationConfiguration.objects.select_for_update().get_or_create(organization=organization)
    after = merged(configuration.sections_of(row), changes)
    if locked is not None:
        known = {f"{section}.{key}" for section, keys in configuration_schema.defaults().items() for key in keys}
        _raise_faults([FieldError("locked", "unknown_field", "Unknown setting.")] if set(locked) - known else [])
        row.locked = sorted(set(locked))
    for section in SECTIONS:
        setattr(row, section, after[section])
    row.save_version(*SECTIONS, "locked", at=at)
    for tenant_id in _tenants_below(organization.id):
        with tenant_context(tenant_id):
            copy_features(tenant_id)
    return row


def merged(own: Sections, changes: Mapping[str, Any]) -> Sections:
    """Return the settings after a merge, checked against the schema.

    :raises InvalidFields: settings are unknown or invalid.
    """
    unknown: Sections = {name: {} for name in changes if name not in SECTIONS}
    after = {
        section: _merge(own[section], changes[section]) if section in changes else own[section] for section in SECTIONS
    }
    after = {section: {} if value is None else value for section, value in after.items()}
    _raise_faults(configuration_schema.faults({**after, **unknown}))
    return after


def difference(before: Sections, after: Sections) -> list[Change]:
    """List the settings whose own value changes, in a fixed order."""
    found = []
    for section in SECTIONS:
        for key in sorted({*before[section], *after[section]}):
            old, new = before[section].get(key), after[section].get(key)
            if old != new:
                found.append(Change(f"{section}.{key}", old, new))
    return found


def _merge(target: Any, patch: Any) -> Any:
    """Apply a JSON merge patch. Source: RFC 7396 section 2."""
    if not isinstance(patch, Mapping):
        return patch
    result = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merge(result.get(key), value)
    return result


def _check_permitted(tenant_id: UUID, after: Sections, diff: Sequence[Change]) -> None:
    values, locked, _ = configuration.resolve(configuration.above(tenant_id), after)
    held = sorted(change.key for change in diff if change.key in locked)
    if held:
        raise SettingLocked(f"An organization above has locked: {', '.join(held)}.", locked=held)
    entitled = Entitlement.objects.filter(tenant_id=tenant_id).values_list("features", flat=True).first() or []
    for change in diff:
        section, _, name = change.key.partition(".")
        if section == "modules" and change.after is True and name not in entitled:
            raise FeatureNotEnabled(f"The plan does not include {name}.", feature=name)
    if any(change.key.startswith("branding.") for change in diff):
        _raise_faults(configuration_schema.contrast_faults(values["branding"]))


def _raise_faults(faults: Sequence[FieldError]) -> None:
    if faults:
        raise InvalidFields("Some settings are not valid.", errors=faults)


def _write(row: TenantConfiguration, after: Sections, at: datetime) -> None:
    for section in SECTIONS:
        setattr(row, section, after[section])
    row.schema_version = SCHEMA_VERSION
    row.save_version(*SECTIONS, "schema_version", at=at)
    Tenant.objects.filter(id=row.tenant_id).update(settings_version=row.version)


def _keep_version(actor: Actor, row: TenantConfiguration, diff: Sequence[Change], at: datetime) -> None:
    ConfigurationVersion.objects.create(
        tenant_id=row.tenant_id,
        number=row.version,
        schema_version=row.schema_version,
        diff=[change._asdict() for change in diff],
        changed_by=actor.subject.id,
        changed_by_kind=str(actor.subject.kind),
        request_id=actor.request_id,
        changed_at=at,
    )
    fact = events.ConfigurationUpdated(keys=[change.key for change in diff])
    ledger.record(actor=actor, event=fact, resource_id=row.id, at=at, resource_version=row.version)


def _tenants_below(organization_id: UUID) -> list[UUID]:
    below = ORGANIZATIONS.down("n.id = %s")
    sql = f"SELECT t.* FROM {below} down JOIN organizations_tenant t ON t.organization_id = down.id ORDER BY t.id"
    return [tenant.id for tenant in Tenant.objects.raw(sql, [organization_id])]
