"""Actions on many products at once: each row is judged by itself, the sound ones are written set-wise in one trip."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db import IntegrityError, transaction

from core.actor import Actor
from core.batches import Outcome, Row
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields, PlatformError
from core.pipeline import run
from suppliers.catalog import references, rules
from suppliers.catalog.models import Product
from suppliers.catalog.planning import columns_of, gtins_of, plan_replacement
from suppliers.catalog.references import References, Wanted
from suppliers.catalog.refusals import GtinTaken
from suppliers.catalog.states import Status

from .present import Present, body_of, locked_products, owners_call, owners_of
from .writing import Created, Replaced, write

_TRIES = 3


class _Judged(NamedTuple):
    """A row whose form is sound: its place in the request, the whole body, and the product that has its SKU.

    `sent` names the members of a row that was merged.
    """

    place: int
    data: Mapping[str, Any]
    sent: frozenset[str] | None
    present: Present | None

    @property
    def wanted(self) -> Wanted:
        """The row as references are looked up for it; a new product is a draft unless it says otherwise."""
        product = self.present.product if self.present else None
        status = self.data.get("status") or (product.status if product else Status.DRAFT.value)
        if product is None:
            return Wanted(self.data, status)
        return Wanted(self.data, status, product.id, self.sent, product.category)


@needs_transaction
def write_products(actor: Actor, data: Mapping[str, Any], at: datetime) -> list[Outcome]:
    """Create the products whose SKUs are unknown, and replace or merge the others; a row that fails is left out.

    Rows are judged in the order of the request: a GTIN that one row gives up can be taken by a later one.

    :raises SkuTaken, GtinTaken: other requests took SKUs or GTINs of this one again and again.
    """
    for _ in range(_TRIES - 1):
        try:
            with transaction.atomic():
                return _write_products(actor, data, at)
        except IntegrityError:  # another request took a SKU or a GTIN meanwhile, so the rows are judged again
            continue
    return _write_products(actor, data, at)


def _write_products(actor: Actor, data: Mapping[str, Any], at: datetime) -> list[Outcome]:
    rows: Sequence[Row] = data["items"]
    present = locked_products(actor, [row.data["supplier_sku"] for row in rows])
    judged, failed = _completed(rows, present)
    if not judged:
        return failed
    bodies = [one.wanted for one in judged]
    gtins = (gtin for one in judged for gtin in gtins_of(one.data))
    owners, *found = run([owners_call(actor, gtins), *references.look_up(actor, bodies)])
    known, taken = references.read(bodies, found), owners_of(owners)
    works: list[Created | Replaced] = []
    outcomes = failed
    for one in judged:
        try:
            work = _plan(actor, one, known, taken, at)
        except PlatformError as error:
            outcomes.append(Outcome(one.place, error=error))
            continue
        works.append(work)
        outcomes.append(Outcome(one.place, work.outcome, id=work.product.id))
    if not (data["atomic"] and any(one.error for one in outcomes)):
        write(actor, [work for work in works if work.outcome != "unchanged"], at)
    return outcomes


def _completed(rows: Sequence[Row], present: Mapping[str, Present]) -> tuple[list[_Judged], list[Outcome]]:
    """Lay the rows that are to be merged over their products; the outcomes tell of those that do not fit."""
    judged: list[_Judged] = []
    failed: list[Outcome] = []
    for row in rows:
        mine, sent = present.get(row.data["supplier_sku"]), row.data.get("sent")
        try:
            body = row.data if sent is None else row.data["over"](body_of(mine) if mine else {})
        except PlatformError as error:
            failed.append(Outcome(row.index, error=error))
        else:
            judged.append(_Judged(row.index, body, sent, mine))
    return judged, failed


def _plan(actor: Actor, row: _Judged, known: References, taken: dict[str, UUID], at: datetime) -> Created | Replaced:
    """Judge a row against the others before it, and note the GTINs that it gives up and takes.

    :raises PlatformError: what a request for this product alone would be refused with.
    """
    made = _created(actor, row, known, at) if row.present is None else _replaced(row, row.present, known)
    mine = made.product.id
    for position, packaging in enumerate(row.data["packagings"]):
        if packaging["gtin"] and taken.get(packaging["gtin"], mine) != mine:
            fault = FieldError(f"packagings.{position}.gtin", GtinTaken.code, GtinTaken.title)
            raise GtinTaken(GtinTaken.title, errors=(fault,))
    for packaging in row.present.packagings if row.present else ():
        if packaging.gtin and taken.get(packaging.gtin) == mine:
            del taken[packaging.gtin]
    taken |= dict.fromkeys(gtins_of(row.data), mine)
    return made


def _created(actor: Actor, row: _Judged, known: References, at: datetime) -> Created:
    wanted = row.wanted
    references.check(wanted, known)
    if wanted.status not in (Status.DRAFT, Status.ACTIVE):
        fault = FieldError("status", "invalid_choice", "A new product is a draft or active.")
        raise InvalidFields(fault.message, errors=[fault])
    product = Product(tenant_id=actor.tenant_id, created_at=at, updated_at=at, **columns_of(row.data))
    if wanted.is_active:
        rules.check_active(product, row.data["packagings"])
        product.activate()
    return Created(product, row.data)


def _replaced(row: _Judged, present: Present, known: References) -> Replaced:
    product, before, wanted = present.product, present.product.status, row.wanted
    rules.change_status(product, wanted.status)
    references.check(wanted, known)
    return Replaced(product, row.data, before, plan_replacement(product, before, present.packagings, row.data))
