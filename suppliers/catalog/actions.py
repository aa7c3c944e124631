"""Actions on products and categories: create, replace and archive, with packagings, search terms, counters and events."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import IntegrityError

from core import rows
from core.actor import Actor
from core.db import needs_transaction
from core.errors import InvalidFields
from core.pipeline import Call, ReadBack, answers_before, run
from ledger import public as ledger

from . import availability, counters, events, packagings, queries, references, rules, search_index
from .attributes import checks as attributes
from .market import market_calls
from .models import Category, PlatformCategory, Product
from .planning import columns_of, gtins_of, occurrences_of, plan_replacement
from .references import Wanted
from .refusals import FieldLocked
from .states import Status


@needs_transaction
def create_product(actor: Actor, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None) -> Product:
    """Create a product, as a draft or active; look-ups, change, event and `reading` take one round trip.

    A refusal may therefore be raised after the rows were written; the transaction must then be rolled back.

    :raises InvalidFields: the category, a substitute or an attribute is unknown, or the product is not complete enough to
        be active.
    :raises SkuTaken, GtinTaken: another product of the tenant has the SKU or a GTIN.
    """
    wanted = Wanted(data, data["status"])
    looked_up = references.look_up(actor, [wanted])
    product = Product(tenant_id=actor.tenant_id, created_at=at, updated_at=at, **columns_of(data))
    if data["status"] == Status.ACTIVE:
        _activate(product, wanted, looked_up)
    fact = events.ProductCreated(supplier_sku=product.supplier_sku, status=product.status)
    calls = [
        *looked_up,
        rows.insert(product),
        *packagings.created_calls(product, data["packagings"], at=at),
        search_index.words_call(product, gtins_of(data)),
        *ledger.statements(actor=actor, event=fact, resource_id=product.id, at=at, resource_version=product.version),
    ]
    read = [reading.call(product.id)] if reading else []
    try:
        found = run([*calls, *read, counters.count_call(product)])
    except IntegrityError as error:
        references.check_one(wanted, answers_before(error))  # these errors take precedence
        raise
    references.check_one(wanted, found)
    if reading:
        reading.rows = found[len(calls)]
    return product


def _activate(product: Product, wanted: Wanted, looked_up: list[Call]) -> None:
    """Activate a new product if it is complete; errors in references take precedence over missing fields."""
    try:
        rules.check_active(product, wanted.data["packagings"])
    except InvalidFields:
        references.check_one(wanted, run(looked_up))
        raise
    product.activate()


@needs_transaction
def replace_product(actor: Actor, product: Product, data: Mapping[str, Any], at: datetime) -> Product:
    """Replace a locked product; absent members take their defaults, except that an absent status stays unchanged.

    If nothing differs, nothing is written and no event is recorded.

    :raises InvalidTransition: the product is archived, or no transition leads to the requested status.
    :raises ModerationHold: staff hold the product, and the body would make it active.
    :raises InvalidFields, SkuTaken, GtinTaken: as in `create_product`.
    :raises FieldLocked: a field would change that is locked because stock has moved.
    """
    before, status = product.status, data.get("status") or product.status
    rules.change_status(product, status)
    wanted = Wanted(data, status, product.id, category=product.category)
    references.check_one(wanted, run(references.look_up(actor, [wanted])))
    plan = plan_replacement(product, before, queries.current_packagings(actor, product), data)
    if not plan.differs:
        return product
    product.save_version(*plan.changed, at=at)
    packagings.apply(product, plan.packs, at=at)
    search_index.replace_words(product, gtins_of(data))
    _show(product)
    if plan.moves_the_band:
        run(availability.refresh_calls(product.tenant_id, [product.id], at))
    ledger.record_many(actor=actor, occurrences=occurrences_of(product, plan.told), at=at)
    counters.count_moved(product, before)
    return product


def _show(product: Product) -> None:
    """Bring up to date what the market reads of a locked product, if an offer of it is published."""
    if product.offered:
        run(market_calls(product.tenant_id, [product.id]))


@needs_transaction
def replace_attributes(actor: Actor, product: Product, data: Mapping[str, Any], at: datetime) -> Product:
    """Replace the attribute values of a locked product; if nothing differs, nothing is written.

    :raises InvalidTransition: the product is archived.
    :raises InvalidFields: an attribute is unknown, has a value of another type, or an active product lacks one that its
        category requires.
    """
    rules.check_not_archived(product, "replace_attributes")
    values = data["values"]
    [found] = run([attributes.definitions(actor, [product.category], values)])
    known, active = attributes.read_definitions(found), product.status == Status.ACTIVE
    if faults := attributes.faults(values, known, name="values", category=product.category, active=active):
        raise InvalidFields(errors=faults)
    if changed := product.assign({"attributes": values}):
        product.save_version(*changed, at=at)
        ledger.record_many(actor=actor, occurrences=occurrences_of(product, changed), at=at)
    return product


@needs_transaction
def archive_product(actor: Actor, product: Product, at: datetime) -> Product:
    """Archive a locked product for good; its SKU and GTINs become free, its row stays.

    :raises InvalidTransition: the product is already archived.
    :raises ModerationHold: staff hold it; archived, it could come back under its SKU.
    """
    rules.check_not_held(product)
    before = product.status
    product.archive(at)
    product.save_version("status", "archived_at", at=at)
    packagings.archive(product, at=at)
    _show(product)
    fact = events.ProductDeleted(supplier_sku=product.supplier_sku)
    ledger.record(actor=actor, event=fact, resource_id=product.id, at=at, resource_version=product.version)
    counters.count_moved(product, before)
    return product


@needs_transaction
def discontinue_product(actor: Actor, product: Product, at: datetime) -> Product:
    """Take a locked product off the market, as the staff do; no buyer sees an offer of it any more.

    :raises InvalidTransition: the product is not active.
    """
    before = product.status
    product.discontinue()
    product.save_version("status", at=at)
    _show(product)
    ledger.record_many(actor=actor, occurrences=occurrences_of(product, ["status"]), at=at)
    counters.count_moved(product, before)
    return product


@needs_transaction
def map_category(actor: Actor, category: PlatformCategory, data: Mapping[str, Any], at: datetime) -> PlatformCategory:
    """Say which codes a locked category of the platform has in other taxonomies; if nothing differs, nothing is written."""
    if changed := category.assign({"mappings": {name: code for name, code in data.items() if code}}):
        category.save_version(*changed, at=at)
    return category


@needs_transaction
def create_category(actor: Actor, data: Mapping[str, Any], at: datetime) -> Category:
    """Create an own category below one of the platform or another own one.

    :raises InvalidFields: there is no such parent, or it is on the lowest level already.
    :raises CategoryCodeTaken: by another category of the tenant, or by one of the platform.
    """
    rules.check_parent(actor, data["parent_id"])
    rules.check_own_code(data["code"])
    category = Category(
        tenant_id=actor.tenant_id, created_at=at, updated_at=at, **{**data, "mappings": data.get("mappings") or {}}
    )
    category.save(force_insert=True)
    fact = events.CategoryCreated(code=category.code)
    ledger.record(actor=actor, event=fact, resource_id=category.id, at=at, resource_version=category.version)
    return category


@needs_transaction
def replace_category(actor: Actor, category: Category, data: Mapping[str, Any], at: datetime) -> Category:
    """Replace a locked category: rename, move, map, switch off or on. If nothing differs, nothing is written.

    :raises InvalidFields: as in `create_category`, or the new parent stands within the category.
    :raises FieldLocked: the code differs, by which products name the category.
    """
    if data["code"] != category.code:
        raise FieldLocked("Products name the category by its code.", fields=["code"])
    changed = category.assign({**data, "mappings": data.get("mappings") or {}})
    if "parent_id" in changed:
        rules.check_parent(actor, category.parent_id, category)
    if changed:
        category.save_version(*changed, at=at)
        fact = events.CategoryUpdated(code=category.code, changes=sorted(changed))
        ledger.record(actor=actor, event=fact, resource_id=category.id, at=at, resource_version=category.version)
    return category
