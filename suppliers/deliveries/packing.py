"""Packages of a shipment, spread over its lines as they were picked. Source: contract, supply-order.md 3 "packages"."""

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from core import rows
from core.errors import FieldError, InvalidFields
from core.ids import uuid7
from core.pipeline import Call

from .models import Delivery, DeliveryLine, DeliveryPackage, DeliveryPackageLine
from .wanting import Want


def check_packed(packages: Sequence[Mapping[str, Any]], wants: Sequence[Want]) -> None:
    """Require that packages hold no more of a line than is shipped.

    :raises InvalidFields: a package names no line of the shipment, or together they hold more of it.
    """
    left = {want.number + 1: want.base_quantity for want in wants}
    errors = list[FieldError]()
    for number, package in enumerate(packages):
        for place, one in enumerate(package["lines"]):
            name = f"packages.{number}.lines.{place}"
            if one["line_no"] not in left:
                errors.append(FieldError(f"{name}.line_no", "unknown_line", "The shipment has no such line."))
                continue
            rest = left[one["line_no"]]
            quantity = rest if one["base_quantity"] is None else one["base_quantity"]
            if not 0 < quantity <= rest:
                message = f"{rest} base units of the line are in no package yet."
                errors.append(FieldError(f"{name}.base_quantity", "more_than_shipped", message))
                continue
            left[one["line_no"]] -= quantity
    if errors:
        raise InvalidFields(errors=errors)


def package_calls(
    row: Delivery,
    packages: Sequence[Mapping[str, Any]],
    lines: Sequence[tuple[int, DeliveryLine]],
    at: datetime,
) -> list[Call]:
    """Return the statements that insert the packages of a delivery; `lines` come with the numbers of what was asked for."""
    if not packages:
        return []
    keys = {one["sscc"]: uuid7() for one in packages}
    same = {"tenant_id": str(row.tenant_id), "created_at": at.isoformat(), "updated_at": at.isoformat(), "version": 1}
    made = [
        {
            "id": str(keys[one["sscc"]]), **same, "delivery_id": str(row.id), "position": position, "sscc": one["sscc"],
            "parent_id": str(keys[one["parent_sscc"]]) if one["parent_sscc"] else None, "level": one["level"],
        }
        for position, one in enumerate(packages)
    ]  # fmt: skip
    held = [
        {
            "id": str(uuid7()), **same, "package_id": str(key), "line_id": str(line.id), "line_no": line.line_no,
            "base_quantity": quantity,
        }
        for key, line, quantity in _spread(packages, keys, lines)
    ]  # fmt: skip
    calls = [rows.insert_all(DeliveryPackage, made)]
    return [*calls, rows.insert_all(DeliveryPackageLine, held)] if held else calls


def _spread(
    packages: Sequence[Mapping[str, Any]], keys: Mapping[str, UUID], lines: Sequence[tuple[int, DeliveryLine]]
) -> list[tuple[UUID, DeliveryLine, int]]:
    """Return what each package holds of each line: lines that were picked of several lots fill packages one after the other."""
    left = {line.id: line.base_quantity for _, line in lines}
    found: dict[tuple[UUID, UUID], int] = defaultdict(int)
    known, waiting = {line.id: line for _, line in lines}, dict[int, deque[DeliveryLine]]()
    for number, line in lines:
        waiting.setdefault(number + 1, deque()).append(line)
    for package in packages:
        for one in package["lines"]:
            of = waiting[one["line_no"]]
            rest = sum(left[line.id] for line in of) if one["base_quantity"] is None else one["base_quantity"]
            while rest and of:
                line = of[0]
                part = min(rest, left[line.id])
                found[keys[package["sscc"]], line.id] += part
                left[line.id] -= part
                rest -= part
                if not left[line.id]:
                    of.popleft()
    return [(key, known[line_id], quantity) for (key, line_id), quantity in found.items()]
