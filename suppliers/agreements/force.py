"""Bringing the lines of a version into force and out of it, so that no two hold for the same goods, quantity and day.

The constraint on the lines is the wall; the caller has locked out other acceptances of the buyer, so that what overlaps can
be named. Source: contract, supply-price.md 5 "Overlap".
"""

from typing import NamedTuple
from uuid import UUID

from core.errors import FieldError
from core.pipeline import Call, Rows, Statement

from .models import PriceAgreement
from .refusals import AgreementOverlap

_MOST_NAMED = 100


class _Overlap(NamedTuple):
    """A line, and the version with which it overlaps."""

    line_no: int
    number: str
    valid_from: str
    valid_to: str


# OFFSET 0 keeps the order: each line looks its slot up. Joined at once, thousands would be compared with thousands.
_OVERLAPS = Statement.of(
    "SELECT DISTINCT ON (l.line_no) l.line_no, a.number, o.valid_from::text AS valid_from, o.valid_to::text AS valid_to"
    " FROM suppliers_priceagreementline l CROSS JOIN LATERAL (SELECT k.agreement_id, k.valid_from, k.valid_to"
    " FROM suppliers_priceagreementline k WHERE k.tenant_id = $1 AND k.slot = l.slot AND k.in_force"
    " AND k.quantities && l.quantities AND k.valid_from < l.valid_to AND l.valid_from < k.valid_to"
    " AND k.valid_from < k.valid_to OFFSET 0) o"
    " JOIN suppliers_priceagreement a ON a.id = o.agreement_id"
    " WHERE l.tenant_id = $1 AND a.tenant_id = $1 AND l.agreement_id = $2 AND a.agreement_id <> $3"
    f" ORDER BY l.line_no, a.number LIMIT {_MOST_NAMED}",
    row=_Overlap,
)
_SET = Statement.of(
    "UPDATE suppliers_priceagreementline SET in_force = $3::boolean"
    " WHERE tenant_id = $1 AND agreement_id = $2 AND in_force <> $3::boolean"
)


def overlaps_call(row: PriceAgreement) -> Call:
    """Return the statement that reads which lines of a version overlap with lines in force of other agreements."""
    return Call(_OVERLAPS, [str(row.tenant_id), str(row.id), str(row.agreement_id)])


def refuse_overlaps(found: Rows) -> None:
    """Refuse a version whose lines overlap.

    :raises AgreementOverlap: names the first hundred lines.
    """
    errors = [
        FieldError(
            f"lines.{one.line_no - 1}",
            AgreementOverlap.code,
            f"{one.number} holds for the same from {one.valid_from} to {one.valid_to}.",
        )
        for one in found.of(_Overlap)
    ]
    if errors:
        raise AgreementOverlap(errors=errors)


def force_call(tenant_id: UUID, version_id: UUID, *, in_force: bool) -> Call:
    """Return the statement that brings the lines of a version into force or out of it, bound to the owner."""
    return Call(_SET, [str(tenant_id), str(version_id), "true" if in_force else "false"])
