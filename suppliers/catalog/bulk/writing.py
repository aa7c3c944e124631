"""The writes of a batch: set-wise, all in one trip, the counters last since other writes of the tenant wait for them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from core import rows
from core.actor import Actor
from core.ids import uuid7
from core.model_rows import save_all_call
from core.pipeline import Call, run
from ledger import public as ledger
from suppliers.catalog import availability, counters, events, search_index
from suppliers.catalog.market import market_calls
from suppliers.catalog.models import Packaging, Product
from suppliers.catalog.packagings import Change, created_rows
from suppliers.catalog.planning import Replacement, gtins_of, occurrences_of
from suppliers.catalog.states import PackagingState

_COLUMNS = [field.attname for field in Product._meta.concrete_fields if not field.generated]


class Created(NamedTuple):
    """A new product and its body."""

    product: Product
    data: Mapping[str, Any]
    outcome: str = "created"


class Replaced(NamedTuple):
    """A locked product with its new values, its body, its former status, and what differs."""

    product: Product
    data: Mapping[str, Any]
    before: str
    plan: Replacement

    @property
    def outcome(self) -> str:
        """Tell whether the product differs from what it was."""
        return "updated" if self.plan.differs else "unchanged"


def write(actor: Actor, works: Sequence[Created | Replaced], at: datetime) -> None:
    """Write new and changed products with their packagings, search terms, events and counters.

    New SKUs and GTINs are inserted in their order, so that two batches wait for each other in one direction only.
    """
    created = [work for work in works if isinstance(work, Created)]
    created.sort(key=lambda work: work.product.supplier_sku)
    replaced = [work for work in works if isinstance(work, Replaced)]
    if works:
        calls = [
            *_product_calls(created, replaced, at),
            *_packaging_calls(created, replaced, at),
            *search_index.replace_all_calls(actor.tenant_id, [(work.product, gtins_of(work.data)) for work in works]),
        ]
        calls += market_calls(actor.tenant_id, [work.product.id for work in replaced if work.product.offered])
        moved = [work.product.id for work in replaced if work.plan.moves_the_band]
        calls += availability.refresh_calls(actor.tenant_id, moved, at)
        told = [*map(_occurrence, created), *(one for work in replaced for one in _occurrences(work))]
        turned = Counter((work.before, work.product.status) for work in replaced)
        run(
            [
                *calls,
                *ledger.statements_of_many(actor=actor, occurrences=told, at=at),
                *counters.count_calls(actor.tenant_id, Counter(work.product.status for work in created), turned),
            ]
        )


def _product_calls(created: Sequence[Created], replaced: Sequence[Replaced], at: datetime) -> Iterator[Call]:
    if created:
        for work in created:
            work.product.check_initial_states()
        yield rows.insert_all(Product, [_columns(work.product) for work in created])
    if replaced:
        yield save_all_call([work.product for work in replaced], *Product.WRITABLE, "status", at=at)


def _columns(product: Product) -> dict[str, Any]:
    """The columns of a new product as JSON takes them: exact decimals are text."""
    exact = {name: rows.text(getattr(product, name)) for name in ("storage_min_c", "storage_max_c")}
    return {name: getattr(product, name) for name in _COLUMNS} | exact


def _packaging_calls(created: Sequence[Created], replaced: Sequence[Replaced], at: datetime) -> Iterator[Call]:
    """First the GTINs that are given up become free: the constraint is checked row by row."""
    changes = [change for work in replaced for change in work.plan.packs.changes]
    removed = [packaging for work in replaced for packaging in work.plan.packs.removed]
    for packaging in removed:
        packaging.state = PackagingState.REMOVED
    yield from _saved(removed, ["state"], at)
    freed = [change.packaging for change in changes if "gtin" in change.columns and change.packaging.gtin]
    for packaging in freed:
        packaging.gtin = None
    yield from _saved(freed, ["gtin"], at)
    yield from _saved([_changed(change) for change in changes], Packaging.WRITABLE, at)
    added = [
        *(row for work in created for row in created_rows(work.product, work.data["packagings"], at=at)),
        *(row for work in replaced for row in created_rows(work.product, work.plan.packs.added, at=at)),
    ]
    added.sort(key=lambda row: row["gtin"] or "")
    if added:
        yield rows.insert_all(Packaging, [{"id": uuid7(), "state": PackagingState.CURRENT, **row} for row in added])


def _changed(change: Change) -> Packaging:
    for column in change.columns:
        setattr(change.packaging, column, change.row[column])
    return change.packaging


def _saved(packagings: Sequence[Packaging], names: Iterable[str], at: datetime) -> Iterator[Call]:
    if packagings:
        yield save_all_call(packagings, *names, at=at)


def _occurrence(work: Created) -> ledger.Occurrence:
    product = work.product
    fact = events.ProductCreated(supplier_sku=product.supplier_sku, status=product.status)
    return ledger.Occurrence(fact, product.id, product.version)


def _occurrences(work: Replaced) -> list[ledger.Occurrence]:
    return occurrences_of(work.product, work.plan.told)
