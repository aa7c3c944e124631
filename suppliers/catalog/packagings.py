"""Packagings, written with their product: matched to its present ones, so that prices keep their packagings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core import rows
from core.errors import FieldError, InvalidFields
from core.pipeline import Call

from .models import Packaging, Product
from .states import PackagingState

Row = Mapping[str, Any]
_Likeness = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Change:
    """An existing packaging with its new values and the columns that differ."""

    packaging: Packaging
    row: dict[str, Any]
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes that turn the present packagings of a product into the wanted ones."""

    added: tuple[dict[str, Any], ...]
    changes: tuple[Change, ...]
    removed: tuple[Packaging, ...]

    @property
    def changed(self) -> set[str]:
        """The columns that differ in any of the kept packagings."""
        return {column for change in self.changes for column in change.columns}

    @property
    def differ(self) -> bool:
        """Tell whether there is any change."""
        return bool(self.added or self.changes or self.removed)


def match(present: Sequence[Packaging], wanted: Sequence[Row]) -> Plan:
    """Match wanted rows to present packagings by id, else by GTIN, else by level and units per pack; each at most once.

    :raises InvalidFields: an id does not belong to a present packaging of the product.
    """
    asked = [_row(row, position) for position, row in enumerate(wanted)]
    left = {packaging.id: packaging for packaging in present}
    pairs: dict[int, Packaging] = {}
    for position, row in enumerate(wanted):
        if "id" in row and row["id"] not in left:
            name = f"packagings.{position}.id"
            raise InvalidFields(
                errors=[FieldError(name, "unknown_packaging", "The product has no packaging with this id.")]
            )
        if "id" in row:
            pairs[position] = left.pop(row["id"])
    for likeness in (_gtin, _kind):
        for position, row in enumerate(asked):
            found = None if position in pairs else _first_like(left.values(), row, likeness)
            if found is not None:
                pairs[position] = left.pop(found.id)
    changes = (_change(packaging, asked[position]) for position, packaging in sorted(pairs.items()))
    return Plan(
        added=tuple(row for position, row in enumerate(asked) if position not in pairs),
        changes=tuple(change for change in changes if change.columns),
        removed=tuple(left.values()),
    )


def created_calls(product: Product, wanted: Sequence[Row], *, at: datetime) -> list[Call]:
    """Return the statements that insert the packagings of a new product."""
    return [rows.insert_values(Packaging, row) for row in created_rows(product, wanted, at=at)]


def created_rows(product: Product, wanted: Sequence[Row], *, at: datetime) -> list[dict[str, Any]]:
    """Return the columns of new packagings of a product; a row that has its `position` keeps it."""
    given = _given(product, at)
    return [{**_row(row, position), **given} for position, row in enumerate(wanted)]


def apply(product: Product, plan: Plan, *, at: datetime) -> None:
    """Write the changes of a locked product's packagings; removed ones keep their rows."""
    _retire(product, [packaging.id for packaging in plan.removed], PackagingState.REMOVED, at)
    wanted = {row["gtin"] for row in (*plan.added, *(change.row for change in plan.changes))} - {None}
    for change in plan.changes:  # GTINs may swap, and the constraint is checked row by row
        if "gtin" in change.columns and change.packaging.gtin in wanted:
            change.packaging.gtin = None
            change.packaging.save_version("gtin", at=at)
    for change in plan.changes:
        for column in change.columns:
            setattr(change.packaging, column, change.row[column])
        change.packaging.save_version(*change.columns, at=at)
    Packaging.objects.bulk_create(_built(product, plan.added, at))


def archive(product: Product, *, at: datetime) -> None:
    """Archive the packagings of an archived product; their GTINs become free."""
    _retire(product, None, PackagingState.ARCHIVED, at)


def _row(row: Row, position: int) -> dict[str, Any]:
    return {"position": position, **{name: value for name, value in row.items() if name != "id"}}


def _gtin(thing: Any) -> Any:
    return _value(thing, "gtin")


def _kind(thing: Any) -> Any:
    return _value(thing, "level"), _value(thing, "units_per_pack")


def _value(thing: Any, name: str) -> Any:
    return thing[name] if isinstance(thing, Mapping) else getattr(thing, name)


def _first_like(present: Any, row: Row, likeness: _Likeness) -> Packaging | None:
    wanted = likeness(row)
    return next((packaging for packaging in present if wanted is not None and likeness(packaging) == wanted), None)


def _change(packaging: Packaging, row: dict[str, Any]) -> Change:
    columns = tuple(name for name in Packaging.WRITABLE if getattr(packaging, name) != row[name])
    return Change(packaging, row, columns)


def _of(product: Product) -> Any:
    return Packaging.objects.filter(tenant_id=product.tenant_id, product_id=product.id)


def _retire(product: Product, ids: list[Any] | None, state: PackagingState, at: datetime) -> None:
    if ids == []:
        return
    current = _of(product).filter(state=PackagingState.CURRENT)
    (current if ids is None else current.filter(pk__in=ids)).update_versions(state=state, at=at)


def _built(product: Product, wanted: Sequence[dict[str, Any]], at: datetime) -> list[Packaging]:
    return [Packaging(**_given(product, at), **row) for row in wanted]


def _given(product: Product, at: datetime) -> dict[str, Any]:
    return {"tenant_id": product.tenant_id, "product_id": product.id, "created_at": at, "updated_at": at}
