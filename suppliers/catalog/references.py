"""What bodies of products name: categories, substitutes and attributes, looked up for one body or for hundreds at once."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from core.actor import Actor
from core.errors import FieldError, InvalidFields
from core.pipeline import Call, Rows

from . import queries
from .attributes import checks
from .states import Status


class Wanted(NamedTuple):
    """A body of a product with the status that it asks for.

    `product_id` is that of an existing product, `category` the one that it has; of a merged body `sent` names the members
    that the client sent.
    """

    data: Mapping[str, Any]
    status: str
    product_id: UUID | None = None
    sent: frozenset[str] | None = None
    category: str = ""

    @property
    def substitutes(self) -> list[UUID]:
        """The products that the body names as substitutes."""
        return [row["product_id"] for row in self.data.get("substitutes", ())]

    @property
    def values(self) -> Sequence[Mapping[str, Any]]:
        """The attribute values of the body."""
        found: Sequence[Mapping[str, Any]] = self.data.get("attributes", ())
        return found

    @property
    def is_active(self) -> bool:
        """Tell whether the product shall be active."""
        return self.status == Status.ACTIVE


class References(NamedTuple):
    """What exists of that which bodies name."""

    categories: frozenset[str]
    products: frozenset[UUID]
    definitions: checks.Definitions


def look_up(actor: Actor, bodies: Sequence[Wanted]) -> list[Call]:
    """Return the statements that look up what the bodies name; `read` reads their rows."""
    calls = [queries.active_categories(actor, {one.data["category"] for one in bodies})]
    if substitutes := {product_id for one in bodies for product_id in one.substitutes}:
        calls.append(queries.known_products(actor, substitutes))
    if _need_definitions(bodies):
        active = {one.data["category"] for one in bodies if one.is_active}
        calls.append(checks.definitions(actor, active, (value for one in bodies for value in one.values)))
    return calls


def read(bodies: Sequence[Wanted], found: Sequence[Rows]) -> References:
    """Read what exists; `found` begins with the rows of the statements of `look_up`."""
    answers = iter(found)
    categories = frozenset(code.decode() for code in _column(next(answers)))
    substitutes = any(one.substitutes for one in bodies)
    products = frozenset(UUID(value.decode()) for value in _column(next(answers))) if substitutes else frozenset[UUID]()
    definitions = checks.read_definitions(next(answers)) if _need_definitions(bodies) else {}
    return References(categories, products, definitions)


def check(wanted: Wanted, known: References) -> None:
    """Check what one body names. Members of a merged body that were not sent stay as they are, whatever they name; so does
    the category, which may have become inactive.

    :raises InvalidFields: the category is unknown or inactive, a substitute is unknown or the product itself, or an
        attribute is unknown, has a value of another type, or is missing from an active product.
    """
    faults, category = [], wanted.data["category"]
    if category not in known.categories and category != wanted.category:
        faults.append(FieldError("category", "unknown_category", "There is no active category with this code."))
    for position, product_id in enumerate(wanted.substitutes):
        if product_id not in known.products or product_id == wanted.product_id:
            name = f"substitutes.{position}.product_id"
            faults.append(FieldError(name, "unknown_product", "There is no other product with this id."))
    faults += checks.faults(
        wanted.values, known.definitions, name="attributes", category=category, active=wanted.is_active
    )
    if faults := [fault for fault in faults if _concerns(fault, wanted.sent)]:
        raise InvalidFields(errors=faults)


def _concerns(fault: FieldError, sent: frozenset[str] | None) -> bool:
    """An attribute may be missing because of a new status or category, too."""
    if sent is None:
        return True
    causes = (
        {"attributes", "category", "status"} if fault.code == "required_when_active" else {fault.field.split(".")[0]}
    )
    return not causes.isdisjoint(sent)


def check_one(wanted: Wanted, found: Sequence[Rows]) -> None:
    """Check what the only body of a request names; `found` begins with the rows of the statements of `look_up`.

    :raises InvalidFields: as `check`.
    """
    check(wanted, read([wanted], found))


def _need_definitions(bodies: Sequence[Wanted]) -> bool:
    return any(one.values or one.is_active for one in bodies)


def _column(rows: Rows) -> Iterator[bytes]:
    return (value for row in range(len(rows)) if (value := rows.value(row)) is not None)
