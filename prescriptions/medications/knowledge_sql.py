"""The statement that reads what the clinical rules need, from the codes of medications and allergies alone.

$1 is the tenant; the codes are those of two queries. It answers one row of JSON lists. A tenant's row hides the
platform's of the same key; of the allergy map, its rows for a code hide the platform's for that code.
"""

from typing import Any, NamedTuple

from core.pipeline import Statement

from .patient_states import PATIENT_STATES
from .systems import address_sql

_MEDICATION = "ingredients, classes, display, form, strength, unit, schedule, version"
_DOSE_KEY = (
    "d.ingredient = p.ingredient AND d.route = p.route AND d.per_kg = p.per_kg"
    " AND d.age_from IS NOT DISTINCT FROM p.age_from AND d.age_to IS NOT DISTINCT FROM p.age_to"
    " AND d.weight_from IS NOT DISTINCT FROM p.weight_from AND d.weight_to IS NOT DISTINCT FROM p.weight_to"
)
_DOSE = (
    "ingredient, route, age_from::text, age_to::text, weight_from::text, weight_to::text, single_max::text,"
    " daily_max::text, unit, per_kg"
)


class Found(NamedTuple):
    """The lists of the statement's row, each of JSON objects."""

    medications: Any
    interactions: Any
    doses: Any
    allergy_terms: Any
    versions: Any


_SQL = f"""
wanted AS (SELECT system, code FROM asked UNION SELECT system, code FROM allergy),
own AS (
 SELECT m.system, m.code, {_MEDICATION}, 'tenant' AS source
 FROM prescriptions_tenantmedication m JOIN wanted w ON m.system = w.system AND m.code = w.code
 WHERE m.tenant_id = $1),
known AS (
 SELECT * FROM own
 UNION ALL SELECT m.system, m.code, {_MEDICATION}, 'platform'
 FROM prescriptions_platformmedication m JOIN wanted w ON m.system = w.system AND m.code = w.code
 WHERE NOT EXISTS (SELECT 1 FROM own WHERE own.system = m.system AND own.code = m.code)),
medication AS (
 SELECT a.asked, k.* FROM asked a JOIN known k ON k.system = a.system AND k.code = a.code),
token AS MATERIALIZED (
 SELECT array_agg(DISTINCT name::text) || '{{{",".join(sorted(PATIENT_STATES))}}}'::text[] AS names
 FROM medication CROSS JOIN LATERAL unnest(ingredients || classes) name),
ingredient AS MATERIALIZED (
 SELECT array_agg(DISTINCT name::text) AS names FROM medication CROSS JOIN LATERAL unnest(ingredients) name),
own_pair AS (
 SELECT i.a, i.b, i.severity, i.text, i.source FROM prescriptions_tenantinteraction i
 WHERE i.tenant_id = $1 AND i.a = ANY((SELECT names FROM token)::text[]) AND i.b = ANY((SELECT names FROM token)::text[])),
pair AS (
 SELECT * FROM own_pair
 UNION ALL SELECT i.a, i.b, i.severity, i.text, i.source FROM prescriptions_platforminteraction i
 WHERE i.a = ANY((SELECT names FROM token)::text[]) AND i.b = ANY((SELECT names FROM token)::text[])
  AND NOT EXISTS (SELECT 1 FROM own_pair o WHERE o.a = i.a AND o.b = i.b)),
own_dose AS (
 SELECT d.* FROM prescriptions_tenantdose d
 WHERE d.tenant_id = $1 AND d.ingredient = ANY((SELECT names FROM ingredient)::text[])),
dose AS (
 SELECT {_DOSE} FROM own_dose
 UNION ALL SELECT {_DOSE} FROM prescriptions_platformdose p
 WHERE p.ingredient = ANY((SELECT names FROM ingredient)::text[])
  AND NOT EXISTS (SELECT 1 FROM own_dose d WHERE {_DOSE_KEY})),
own_term AS (
 SELECT a.asked, m.system, m.code, m.kind, m.value
 FROM prescriptions_tenantallergyterm m JOIN allergy a ON m.system = a.system AND m.code = a.code
 WHERE m.tenant_id = $1),
term AS (
 SELECT asked, code, kind, value FROM own_term
 UNION SELECT a.asked, m.code, m.kind, m.value
 FROM prescriptions_platformallergyterm m JOIN allergy a ON m.system = a.system AND m.code = a.code
 WHERE NOT EXISTS (SELECT 1 FROM own_term o WHERE o.system = m.system AND o.code = m.code)
 UNION SELECT a.asked, k.code, 'ingredient', name
 FROM allergy a JOIN known k ON k.system = a.system AND k.code = a.code CROSS JOIN LATERAL unnest(k.ingredients) name),
version AS (
 SELECT DISTINCT ON (v."table") v."table", 'platform-' || v.number || CASE WHEN v.demonstration THEN '-demonstration'
  ELSE '' END AS version FROM prescriptions_platformtableversion v ORDER BY v."table", v.number DESC),
own_version AS (
 SELECT DISTINCT ON (v."table") v."table", 'tenant-' || v.number AS version
 FROM prescriptions_tenanttableversion v WHERE v.tenant_id = $1 ORDER BY v."table", v.number DESC)
SELECT
 (SELECT coalesce(json_agg(m ORDER BY m.asked, m.code), '[]') FROM medication m) AS medications,
 (SELECT coalesce(json_agg(p ORDER BY p.a, p.b), '[]') FROM pair p) AS interactions,
 (SELECT coalesce(json_agg(d ORDER BY d.ingredient, d.route, d.age_from, d.weight_from, d.per_kg), '[]') FROM dose d)
  AS doses,
 (SELECT coalesce(json_agg(t ORDER BY t.asked, t.code, t.kind, t.value), '[]') FROM term t) AS allergy_terms,
 (SELECT coalesce(json_agg(v ORDER BY v."table", v.version), '[]')
  FROM (SELECT * FROM version UNION ALL SELECT * FROM own_version) v) AS versions
"""


def knowledge_statement(medications: str, allergies: str) -> Statement:
    """Return the statement for the codes of two queries, each of columns `asked`, a code system as it was given, and `code`.

    Rows without a system or a code are passed over. The first query may read those of the second, as `allergy`.
    """
    asked, allergy = _named(medications), _named(allergies)
    return Statement.of(f"WITH allergy AS MATERIALIZED ({allergy}), asked AS MATERIALIZED ({asked}),{_SQL}", row=Found)


def _named(codes: str) -> str:
    """Add the addresses of the systems to a query of codes."""
    return (
        f"SELECT DISTINCT c.asked, {address_sql('c.asked')} AS system, c.code FROM ({codes}) AS c (asked, code)"
        " WHERE c.asked <> '' AND c.code <> ''"
    )


KNOWLEDGE = knowledge_statement(
    "SELECT * FROM unnest($2::text[], $3::text[])", "SELECT * FROM unnest($4::text[], $5::text[])"
)
