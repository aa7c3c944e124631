"""What a tenant has of agreements, as one table: its drafts, its versions as buyer, and its copies as supplier.

Every row has the columns of a version; `side` is the tenant's own side, `lines` those of a draft. What a copy shows stands
in its JSON.
"""

from collections.abc import Mapping
from typing import Final

from api.unions import union_of
from core.conditions import TENANT

from .models import PriceAgreement
from .states import NOBODY

# By column: of a draft `d`, of a version `a`, of a copy `c`. A type alone says: the column of drafts and versions, and the
# member of the copy's JSON.
_ALIKE: Final = {
    "title": "text", "valid_to": "date", "qty_tolerance_bp": "int", "price_tolerance_bp": "int", "cancellation_policy": "text",
    "lines_total": "int", "payment_terms": "jsonb", "min_order_value": "jsonb", "free_freight_from": "jsonb",
    "categories": "jsonb", "files": "jsonb",
}  # fmt: skip
_OF_VERSIONS: Final = {
    "proposed_at": "timestamptz", "accepted_by_buyer_at": "timestamptz", "accepted_by_supplier_at": "timestamptz",
    "terminates_on": "date", "ended_at": "timestamptz",
}  # fmt: skip
_IN_COLUMNS: Final = (
    "id", "tenant_id", "agreement_id", "revision", "currency", "priority", "valid_from", "scope", "group_code", "version", "updated_at", "number",
)  # fmt: skip


def _member(name: str, kind: str) -> str:
    if kind == "jsonb":
        return f"nullif(c.representation -> '{name}', 'null'::jsonb)"
    return f"(c.representation ->> '{name}')::{kind}"


def _columns() -> Mapping[str, tuple[str, str, str]]:
    found = {name: (f"d.{name}", f"a.{name}", f"c.{name}") for name in _IN_COLUMNS}
    found |= {name: (f"d.{name}", f"a.{name}", _member(name, kind)) for name, kind in _ALIKE.items()}
    found |= {name: (f"NULL::{kind}", f"a.{name}", _member(name, kind)) for name, kind in _OF_VERSIONS.items()}
    return found | {
        "side": ("d.author", "'buyer'", "'supplier'"),
        "status": ("'draft'", "a.status", "c.status"),
        "author": ("d.author", "a.author", "(c.representation ->> 'author')"),
        "supplier_tenant_id": ("d.supplier_tenant_id", "a.supplier_tenant_id", "c.tenant_id"),
        "buyer_tenant_id": ("d.buyer_tenant_id", "a.tenant_id", "c.owner_tenant_id"),
        "reason": ("''", "a.reason", "coalesce(c.representation ->> 'reason', '')"),
        "created_at": ("d.created_at", "a.created_at", "c.received_at"),
        "lines": ("d.lines", "NULL::jsonb", "NULL::jsonb"),
    }


_TABLES: Final = ("suppliers_agreementdraft d", "suppliers_priceagreement a", "suppliers_receivedagreement c")
ROWS: Final = union_of(PriceAgreement, _columns(), _TABLES, texts=("side",))

_LINE: Final = (
    "product_id", "category", "packaging_id", "price_base_quantity", "tiers", "max_quantity", "consumed",
    "min_remaining_shelf_life_days", "lead_time_days",
)  # fmt: skip
_PLAIN: Final = ", ".join(f"l.{name}" for name in _LINE)
_TYPES: Final = {"product_id": "uuid", "packaging_id": "uuid", "category": "text", "tiers": "jsonb"}
_DRAFTED: Final = ", ".join(
    "0::bigint"
    if name == "consumed"
    else f"(e.line -> '{name}')"
    if name == "tiers"
    else f"(e.line ->> '{name}')::{_TYPES.get(name, 'bigint')}"
    for name in _LINE
)


def lines_sql(limit: str, skipped: str) -> str:
    """Write the SQL of a page of the lines of a row `t`, by their numbers; the arguments are SQL."""
    shown = ", ".join(("line_no", *_LINE))
    return (
        f"SELECT coalesce(json_agg(row_to_json(r)), '[]') FROM (SELECT {shown} FROM ("
        f"SELECT l.line_no, {_PLAIN} FROM suppliers_priceagreementline l"
        f" WHERE l.tenant_id = {TENANT} AND l.agreement_id = t.id"
        f" UNION ALL SELECT l.line_no, {_PLAIN} FROM suppliers_receivedagreementline l"
        f" WHERE l.tenant_id = {TENANT} AND l.document_id = t.id"
        f" UNION ALL SELECT e.number, {_DRAFTED} FROM jsonb_array_elements(coalesce(t.lines, '[]'))"
        f" WITH ORDINALITY AS e(line, number)) l ORDER BY line_no LIMIT {limit} OFFSET {skipped}) r"
    )


_VERSION: Final = (
    "'revision', v.revision, 'status', v.status, 'proposed_by', CASE WHEN v.status <> 'draft' THEN v.author END,"
    " 'proposed_at', v.proposed_at, 'valid_from', v.valid_from, 'valid_to', v.valid_to, 'lines_total', v.lines_total,"
    " 'version', v.version"
)


def versions_sql(instant: str) -> str:
    """Write the SQL of all versions of the agreement of a row `t`; `instant` writes a time, given as a format."""
    members = _VERSION.replace("v.proposed_at", instant.format("v.proposed_at"))
    return (
        f"SELECT json_agg(json_build_object({members}) ORDER BY v.revision, v.status) FROM {ROWS} v"
        f" WHERE v.tenant_id = {TENANT} AND v.agreement_id = t.agreement_id"
    )


def timeline_sql(instant: str, most: int) -> str:
    """Write the SQL of the newest facts of the reader's own ledger about the agreement of a row `t`.

    Who acted is told of the reader's own side alone; the other side's facts have the platform as their subject.
    """
    mine = f"f.subject_id <> '{NOBODY}'::uuid"
    before = "lag(f.data ->> 'status') OVER (PARTITION BY f.data ->> 'revision' ORDER BY f.occurred_at, f.id)"
    return (
        "SELECT coalesce(json_agg(row_to_json(r)), '[]') FROM (SELECT"
        f" {instant.format('f.occurred_at')} AS at, f.data ->> 'by' AS by, split_part(f.type, '.', 2) AS action,"
        f" (f.data ->> 'revision')::int AS revision, {before} AS from, f.data ->> 'status' AS to,"
        " nullif(f.figures ->> 'reason', '') AS reason,"
        f" CASE WHEN {mine} THEN f.subject_id END AS actor_id, CASE WHEN {mine} THEN f.credential END AS credential"
        f" FROM ledger_event f WHERE f.tenant_id = {TENANT} AND f.resource_id = t.agreement_id"
        f" ORDER BY f.occurred_at DESC, f.id DESC LIMIT {most}) r"
    )


TIMELINE_TOTAL: Final = (
    f"SELECT count(*) FROM ledger_event f WHERE f.tenant_id = {TENANT} AND f.resource_id = t.agreement_id"
)
