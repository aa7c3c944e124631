"""The groups of buyers of a supplier, replaced as a whole."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from core import rows
from core.actor import Actor
from core.errors import FieldError
from core.ids import uuid7
from core.pipeline import Call, Statement, run

from .models import BuyerGroup, BuyerGroupMember
from .queries import known_organizations, known_tenants
from .states import MemberKind

_LISTS = {"buyer_ids": MemberKind.BUYER, "organization_ids": MemberKind.ORGANIZATION}


class _Stored(NamedTuple):
    """One group in the form in which groups are compared: members as `buyer:id organization:id`."""

    code: str
    name: str
    reservation_cap_percent: int | None
    members: str


_PRESENT = Statement.of(
    "SELECT g.code, g.name, g.reservation_cap_percent::int,"
    " (SELECT coalesce(string_agg(m.kind || ':' || m.member_id, ' ' ORDER BY m.kind, m.member_id), '')"
    "  FROM suppliers_buyergroupmember m WHERE m.tenant_id = $1 AND m.group_id = g.id) AS members"
    " FROM suppliers_buyergroup g WHERE g.tenant_id = $1 ORDER BY g.position, g.id",
    row=_Stored,
)
_DROP_MEMBERS = Statement.of("DELETE FROM suppliers_buyergroupmember m WHERE m.tenant_id = $1")
_DROP = Statement.of("DELETE FROM suppliers_buyergroup g WHERE g.tenant_id = $1")


def unknown(groups: Sequence[Mapping[str, Any]]) -> list[FieldError]:
    """Name each member of the groups that is no tenant or no organization."""
    wanted = {name: {one for group in groups for one in group[name]} for name in _LISTS}
    if not any(wanted.values()):
        return []
    tenants, organizations = run([known_tenants(wanted["buyer_ids"]), known_organizations(wanted["organization_ids"])])
    known = {"buyer_ids": _ids(tenants), "organization_ids": _ids(organizations)}
    codes = {"buyer_ids": "unknown_tenant", "organization_ids": "unknown_organization"}
    return [
        FieldError(f"buyer_groups.{number}.{name}.{place}", codes[name], "There is none with this id.")
        for number, group in enumerate(groups)
        for name in _LISTS
        for place, one in enumerate(group[name])
        if one not in known[name]
    ]


def _ids(found: Any) -> set[UUID]:
    return {UUID((found.value(number) or b"").decode()) for number in range(len(found))}


def replace(actor: Actor, groups: Sequence[Mapping[str, Any]], at: datetime) -> bool:
    """Replace all groups under the lock of the profile; tell whether anything changed."""
    mine = [str(actor.tenant_id)]
    (present,) = run([Call(_PRESENT, mine)])
    if present.of(_Stored) == [_stored(group) for group in groups]:
        return False
    made = [_group(actor, group, position, at) for position, group in enumerate(groups)]
    members = [
        {"tenant_id": actor.tenant_id, "group_id": row["id"], "member_id": one, "kind": kind.value}
        for row, group in zip(made, groups, strict=True)
        for name, kind in _LISTS.items()
        for one in group[name]
    ]
    calls = [Call(_DROP_MEMBERS, mine), Call(_DROP, mine)]
    calls += [rows.insert_all(BuyerGroup, made)] if made else []
    calls += [rows.insert_all(BuyerGroupMember, members)] if members else []
    run(calls)
    return True


def _stored(group: Mapping[str, Any]) -> _Stored:
    """Return a group of the body in the form in which groups are compared."""
    members = " ".join(f"{kind.value}:{one}" for name, kind in _LISTS.items() for one in group[name])
    return _Stored(group["code"], group["name"], group["reservation_cap_percent"], members)


def _group(actor: Actor, group: Mapping[str, Any], position: int, at: datetime) -> dict[str, Any]:
    """Return a new group by its columns."""
    return {
        "id": uuid7(),
        "tenant_id": actor.tenant_id,
        "code": group["code"],
        "name": group["name"],
        "position": position,
        "reservation_cap_percent": group["reservation_cap_percent"],
        "created_at": at,
        "updated_at": at,
        "version": 1,
    }
