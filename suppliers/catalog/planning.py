"""What a checked body makes of a product: its columns, what differs, and the events that tell of it."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ledger import public as ledger

from . import events, packagings, rules
from .models import Packaging, Product
from .states import LOT_TRACKED_KINDS, Status, Tracking

_TEXTS = (
    "description", "brand", "manufacturer_name", "manufacturer_part_number", "tax_category", "country_of_origin",
)  # fmt: skip


class Replacement(NamedTuple):
    """What differs of a product: `changed` names its columns, `packs` the changes of its packagings."""

    changed: list[str]
    packs: packagings.Plan

    @property
    def moves_the_band(self) -> bool:
        """Whether the same stock may be in another band of availability now."""
        return self.packs.differ or "min_remaining_shelf_life_days" in self.changed

    @property
    def differs(self) -> bool:
        """Tell whether there is any change."""
        return bool(self.changed) or self.packs.differ

    @property
    def told(self) -> list[str]:
        """The names that the event tells."""
        return self.changed + ["packagings"] * self.packs.differ


def plan_replacement(
    product: Product, before: str, present: Sequence[Packaging], data: Mapping[str, Any]
) -> Replacement:
    """Assign a body to a locked product whose status was `before` and is what the body asks for; nothing is written.

    :raises InvalidFields: the product is not complete enough to be active, or a packaging is none of its own.
    :raises FieldLocked: a field would change that is locked because stock has moved.
    """
    changed = product.assign(columns_of(data))
    packs = packagings.match(present, data["packagings"])
    rules.check_unlocked(product, [*changed, *packs.changed])
    if product.status == Status.ACTIVE:
        rules.check_active(product, data["packagings"])
    return Replacement(changed + ["status"] * (product.status != before), packs)


def occurrences_of(product: Product, changed: Sequence[str]) -> list[ledger.Occurrence]:
    """Return `product.updated`, and the event of the new status where the status changed."""
    sku, status = product.supplier_sku, product.status
    facts: list[ledger.EventType] = [events.ProductUpdated(supplier_sku=sku, status=status, changes=sorted(changed))]
    if "status" in changed:
        kind = events.ProductActivated if status == Status.ACTIVE else events.ProductDiscontinued
        facts.append(kind(supplier_sku=sku))
    return [ledger.Occurrence(fact, product.id, product.version) for fact in facts]


def gtins_of(data: Mapping[str, Any]) -> list[str]:
    """Return the GTINs that a body gives."""
    return [row["gtin"] for row in data["packagings"] if row["gtin"]]


def columns_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns for a validated body, with defaults filled in and texts never null."""
    storage = data["storage"] or {}
    default_tracking = Tracking.LOT if data["kind"] in LOT_TRACKED_KINDS else Tracking.NONE
    found = {name: data.get(name) for name in Product.WRITABLE}
    found |= {name: data.get(name) or "" for name in _TEXTS}
    found |= {
        "tracking": data.get("tracking") or default_tracking.value,
        "national_codes": data.get("national_codes", []),
        "classifications": data.get("classifications") or {},
        "storage_min_c": storage.get("min_c"),
        "storage_max_c": storage.get("max_c"),
        "storage_light_sensitive": storage.get("light_sensitive"),
        "controlled": data["controlled"]
        and {**data["controlled"], "license_type": data["controlled"]["license_type"] or None},
        "substitutes": [{**row, "product_id": str(row["product_id"])} for row in data.get("substitutes", ())],
        "attributes": data.get("attributes", []),
    }
    return found
