"""Lines of a draft of a price agreement read from a file, merged by the action of its PATCH."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, ClassVar, Final, NamedTuple
from uuid import UUID

from rest_framework import serializers

from api.serializers import refusal
from core import clock
from core.actor import Actor, system_actor
from core.arrays import array_literal
from core.db import bind_call, needs_transaction
from core.errors import FieldError, InvalidFields
from core.pipeline import Call, Statement, run
from suppliers.agreements.drafts import edit
from suppliers.agreements.finding import OF_DRAFTS, AgreementAt, OwnDraft
from suppliers.agreements.lines import Line as Kept
from suppliers.agreements.lines import checked, key_of
from suppliers.agreements.models import AGREEMENTS
from suppliers.agreements.refusals import AgreementImmutable
from suppliers.agreements.serializers import AgreementLineIn
from suppliers.agreements.states import LinesMode

from .csv_files import Form
from .file_imports import Fault
from .merges import MergeImport, Sent

_FIND: Final = AgreementAt(AGREEMENTS, order=OF_DRAFTS, is_serial=True)


class _Packaging(NamedTuple):
    """A packaging of a product that lines name by its SKU."""

    supplier_sku: str
    product_id: UUID
    id: UUID | None


_BY_SKU = Statement.of(
    "SELECT p.supplier_sku, p.id AS product_id, k.id FROM unnest($2::text[]) AS g(sku)"
    " JOIN suppliers_product p ON p.tenant_id = $1 AND p.supplier_sku = g.sku AND p.archived_at IS NULL"
    " LEFT JOIN suppliers_packaging k ON k.tenant_id = $1 AND k.product_id = p.id AND k.state = 'current'",
    row=_Packaging,
)


class LineOfFileIn(AgreementLineIn):
    """A line as files have it: the product may be named by the supplier's SKU, which then stands for its only packaging, too."""

    supplier_sku = serializers.CharField(max_length=64, required=False, allow_null=True, default=None)

    class Meta:
        example: ClassVar = {"supplier_sku": "GLV-100", "tiers": [{"min_quantity": 1, "unit_price": "4.10"}]}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Hold members to one another; what a SKU stands for is looked up later."""
        if attrs["supplier_sku"] is None:
            return super().validate(attrs)
        if attrs["product_id"] is not None:
            raise refusal("product_id", "Give either product_id or supplier_sku.", "required")
        placeholder = UUID(int=0)
        named = {"product_id": placeholder, "packaging_id": attrs["packaging_id"] or placeholder}
        return super().validate(attrs | named) | {"product_id": None, "packaging_id": attrs["packaging_id"]}


class _Named(NamedTuple):
    """A line as the body of a PATCH has it, and as a draft keeps it."""

    body: Mapping[str, Any]
    kept: Kept


LINES: Final = Form(LineOfFileIn, ("supplier_sku", "product_id", "category"), "Lines of an agreement")


@dataclass(kw_only=True)
class Import(MergeImport[_Named]):
    """The import of one file into one tenant's own draft of an agreement."""

    form = LINES
    noun = "lines"

    agreement_id: UUID

    def write(self, sent: Sequence[Sent]) -> list[Fault]:
        """Merge the sound ones of these lines into the draft.

        :raises NotFound: the tenant has no part in such an agreement.
        :raises AgreementImmutable: the tenant has no draft of it.
        """
        actor = system_actor(self.tenant_id)
        (located,) = run([_FIND.locate(self.tenant_id, self.agreement_id)])
        target = _FIND(actor, self.agreement_id, located=located)
        if not isinstance(target, OwnDraft):
            message = "There is no draft of it; an empty PATCH begins one of the next version."
            raise AgreementImmutable(message, state=target.row.status)
        supplier_id, before = target.row.supplier_tenant_id, target.row.lines
        sound, faults = self.judged(
            sent, lambda given: _look_up(self.tenant_id, supplier_id, given), lambda one: key_of(one.kept)
        )
        if sound:
            self._merge(actor, target, [one.body for _, one in sound], clock.now())
            self.counts += _statuses(before, [one.kept for _, one in sound])
        return faults

    @needs_transaction
    def _merge(self, actor: Actor, target: OwnDraft, lines: Sequence[Mapping[str, Any]], at: datetime) -> None:
        edit(actor, target, {"lines": lines, "lines_mode": LinesMode.MERGE.value}, at)


@needs_transaction
def _look_up(tenant_id: UUID, supplier_id: UUID, given: Sequence[Mapping[str, Any]]) -> list[_Named]:
    """Return lines with the products and packagings that they name, as the body of the PATCH has them, and as they are kept.

    :raises InvalidFields: names each line whose product, packaging or category the supplier has not, or that is there twice.
    """
    skus = {one["supplier_sku"] for one in given} - {None}
    products: dict[str, list[_Packaging]] = defaultdict(list)
    if skus:
        wanted = Call(_BY_SKU, [str(supplier_id), array_literal(sorted(skus))])
        _, found, _ = run([bind_call(supplier_id), wanted, bind_call(tenant_id)])
        for one in found.of(_Packaging):
            products[one.supplier_sku].append(one)
    bodies: list[Mapping[str, Any]] = []
    errors: list[FieldError] = []
    for number, line in enumerate(given):
        body = _by_sku(line, products.get(line["supplier_sku"], ()))
        if isinstance(body, FieldError):
            errors.append(replace(body, field=f"lines.{number}.{body.field}"))
        else:
            bodies.append(body)
    if errors:
        raise InvalidFields(errors=errors)
    return [_Named(body, kept) for body, kept in zip(bodies, checked(tenant_id, supplier_id, bodies), strict=True)]


def _by_sku(line: Mapping[str, Any], packagings: Sequence[_Packaging]) -> Mapping[str, Any] | FieldError:
    """Return a line with the product that its SKU stands for, or what is wrong with it."""
    body = {name: value for name, value in line.items() if name != "supplier_sku"}
    if line["supplier_sku"] is None:
        return body
    if not packagings:
        return FieldError("supplier_sku", "unknown_product", "The supplier has no such product.")
    chosen = line["packaging_id"]
    if chosen is None and any(tier["unit_price"] is not None for tier in line["tiers"]):
        if len(packagings) > 1:
            return FieldError("packaging_id", "required", "The product has several packagings; name one.")
        chosen = packagings[0].id
    return {**body, "product_id": packagings[0].product_id, "packaging_id": chosen}


def _statuses(before: Sequence[Kept], lines: Sequence[Kept]) -> Counter[str]:
    """Count what became of the lines of a draft."""
    stored = {key_of(line): line for line in before}
    return Counter(_status(line, stored.get(key_of(line))) for line in lines)


def _status(line: Kept, stored: Kept | None) -> str:
    if not line["tiers"]:
        return "unchanged" if stored is None else "removed"
    if stored is None:
        return "created"
    return "unchanged" if stored == line else "updated"
