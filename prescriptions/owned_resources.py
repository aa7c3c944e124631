"""Which resources of the record are made from prescriptions, so that nobody writes them through FHIR."""

from collections.abc import Collection, Mapping
from uuid import UUID

from core.arrays import array_literal
from core.ids import parse_uuid
from core.pipeline import Call, Statement, run
from fhir_api import public as record

_ITEMS = Statement.of(
    "SELECT i.id::text, i.prescription_id::text FROM prescriptions_prescriptionitem i"
    " WHERE i.tenant_id = $1 AND i.id = ANY($2::uuid[])"
)
_LINES = Statement.of(
    "SELECT l.id::text, d.prescription_id::text FROM prescriptions_dispensationline l"
    " JOIN prescriptions_dispensation d ON d.tenant_id = l.tenant_id AND d.id = l.dispensation_id"
    " WHERE l.tenant_id = $1 AND l.id = ANY($2::uuid[]) AND d.tenant_id = $1"
)


def _owner(statement: Statement) -> record.Owner:
    def addresses(tenant_id: UUID, ids: Collection[str]) -> Mapping[str, str]:
        keys = [key for one in ids if (key := parse_uuid(one))]
        if not keys:
            return {}
        (rows,) = run([Call(statement, [str(tenant_id), array_literal(keys)])])
        pairs = ((value or b"").decode() for number in range(len(rows)) for value in rows.row(number))
        return {key: f"/v1/prescriptions/{prescription}" for key, prescription in zip(pairs, pairs, strict=True)}

    return addresses


def own_resources() -> None:
    """Register the items of prescriptions and the lines of dispensations as resources that are kept here."""
    record.own("MedicationRequest", _owner(_ITEMS))
    record.own("MedicationDispense", _owner(_LINES))
