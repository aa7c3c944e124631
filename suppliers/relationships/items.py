"""The products that a relationship names, written set-wise: only what differs from what stands there."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson

from core import rows
from core.actor import Actor
from core.pipeline import Call, Statement, run
from core.tenant_rows import TenantRow

from .models import ApprovedSubstitute, BlockedProduct, ItemAlias

Item = tuple[str, ...]  # the values of one entry, in the order of its columns


class _Kind(NamedTuple):
    """One list of a relationship: its table, its columns, and how many of them are ids of products."""

    model: type[TenantRow]
    columns: tuple[str, ...]
    products: int
    read: Statement
    drop: Statement


def _kind(model: type[TenantRow], columns: tuple[str, ...], products: int) -> _Kind:
    table, listed = model._meta.db_table, ", ".join(f"i.{column}" for column in columns)
    mine = "i.tenant_id = $1 AND i.supplier_id = $2"
    same = " AND ".join(f"i.{column} = d.{column}" for column in columns)
    return _Kind(
        model,
        columns,
        products,
        Statement.of(f"SELECT coalesce(json_agg(json_build_array({listed})), '[]')::text FROM {table} i WHERE {mine}"),
        Statement.of(
            f"DELETE FROM {table} i USING json_populate_recordset(NULL::{table}, $3::json) d WHERE {mine} AND {same}"
        ),
    )


KINDS: Final[Mapping[str, _Kind]] = {
    "blocked_products": _kind(BlockedProduct, ("product_id",), 1),
    "approved_substitutes": _kind(ApprovedSubstitute, ("product_id", "substitute_product_id"), 2),
    "item_aliases": _kind(ItemAlias, ("product_id", "own_code"), 1),
}


def present(actor: Actor, supplier_id: UUID) -> dict[str, set[Item]]:
    """Return what stands in each list of a locked relationship."""
    mine = [str(actor.tenant_id), str(supplier_id)]
    found = run([Call(kind.read, mine) for kind in KINDS.values()])
    return {
        name: {tuple(one) for one in orjson.loads(listed.value() or b"[]")}
        for name, listed in zip(KINDS, found, strict=True)
    }


def wanted(data: Mapping[str, Any]) -> dict[str, list[Item]]:
    """Return the entries of each list of a checked body, in its order."""
    return {name: [_item(kind, one) for one in data[name]] for name, kind in KINDS.items()}


def _item(kind: _Kind, one: Any) -> Item:
    return tuple(str(one[column]) for column in kind.columns) if isinstance(one, Mapping) else (str(one),)


def products_of(lists: Mapping[str, Sequence[Item] | set[Item]]) -> set[str]:
    """Return the ids of all products that some lists name."""
    return {key for name, items in lists.items() for one in items for key in one[: KINDS[name].products]}


def replace(
    actor: Actor, supplier_id: UUID, old: Mapping[str, set[Item]], new: Mapping[str, Sequence[Item]]
) -> list[str]:
    """Write the lists of a locked relationship; return the names of those that changed."""
    calls: list[Call] = []
    changed = []
    for name, kind in KINDS.items():
        given = set(new[name])
        if given == old[name]:
            continue
        changed.append(name)
        if gone := [dict(zip(kind.columns, one, strict=True)) for one in old[name] - given]:
            calls.append(Call(kind.drop, [str(actor.tenant_id), str(supplier_id), orjson.dumps(gone)]))
        key = {"tenant_id": actor.tenant_id, "supplier_id": supplier_id}
        if added := [key | dict(zip(kind.columns, one, strict=True)) for one in sorted(given - old[name])]:
            calls.append(rows.insert_all(kind.model, added))
    if calls:
        run(calls)
    return changed
