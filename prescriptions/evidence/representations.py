"""The audit history as it is read: its entries, and in the same form the records of reads."""

from collections.abc import Callable
from typing import Any, ClassVar
from uuid import UUID

from rest_framework import serializers

from api.representations import Computed, Document, Instant, OpenChoice, Representation
from api.shapes import Selection, Shape
from core.conditions import TENANT
from core.pipeline import Call, Statement
from fhir_api import public as record
from prescriptions.lifecycle.chain_models import AuditEntry


def _origin(column: str) -> str:
    """SQL for what the history keeps apart of an entry."""
    return (
        f"SELECT nullif(o.{column}, '') FROM prescriptions_auditorigin o WHERE o.tenant_id = {TENANT} AND o.id = t.id"
    )


class ActorForm(serializers.Serializer[Any]):
    """Who acted; `display` is gone once the tenant is closed, and of another tenant's people the id alone is told."""

    type = OpenChoice(choices=["user", "service", "system"])
    id = serializers.UUIDField()
    display = serializers.CharField(allow_null=True)
    tenant_id = serializers.UUIDField()
    membership_id = serializers.UUIDField(allow_null=True)
    role = serializers.CharField(allow_null=True)
    client_id = serializers.CharField(allow_null=True)

    def to_representation(self, instance: Any) -> Any:
        """The object as PostgreSQL wrote it."""
        return instance


_ENTRY_EXAMPLE: dict[str, Any] = {"sequence": 3, "action": "signed", "from_status": "clinically_validated",
                                  "to_status": "signed", "patient_id": "pat-1", "details": {}}  # fmt: skip
_FIELDS = (
    "id", "prescription_id", "patient_id", "sequence", "action", "actor", "from_status", "to_status", "details", "ip",
    "user_agent", "request_id", "occurred_at", "prev_hash", "hash",
)  # fmt: skip


class AuditEntryOut(Representation):
    """An entry of the audit history; `hash` covers it and the hash of the entry before."""

    actor = Computed(
        "json_build_object('type', t.actor -> 'type', 'id', t.actor -> 'id',"
        f" 'display', ({_origin('display')}), 'tenant_id', t.actor -> 'tenant_id',"
        " 'membership_id', t.actor -> 'membership_id', 'role', t.actor -> 'role', 'client_id', t.actor -> 'client_id')",
        ActorForm(),
    )
    details = Document(serializers.DictField())
    ip = Computed(_origin("ip"), serializers.CharField(allow_null=True))
    user_agent = Computed(_origin("user_agent"), serializers.CharField(allow_null=True))
    sequence = serializers.IntegerField(allow_null=True)
    prev_hash = serializers.CharField(allow_null=True)
    hash = serializers.CharField(allow_null=True)

    class Meta:
        model = AuditEntry
        name = "audit entry"
        fields = _FIELDS
        blank_as_null = ("from_status", "to_status", "request_id")
        version = None
        example: ClassVar = _ENTRY_EXAMPLE


_WORD = f"CASE t.interaction {' '.join(f'WHEN {chr(39)}{name}{chr(39)} THEN {chr(39)}{word}{chr(39)}' for word, names in record.RX_READS.items() for name in names)} END"


class AccessEntryOut(Representation):
    """A read of prescriptions, in the form of an entry; it stands in the access log, not in the chained history."""

    prescription_id = Computed("nullif(t.resource_id, '')", serializers.CharField(allow_null=True))
    patient_id = Computed(
        "CASE WHEN cardinality(t.patients) = 1 THEN t.patients[1] END", serializers.CharField(allow_null=True)
    )
    sequence = Computed("NULL::int", serializers.IntegerField(allow_null=True))
    action = Computed(_WORD, serializers.CharField())
    actor = Computed(
        "json_build_object('type', t.subject_kind, 'id', t.subject_id, 'display', NULL, 'tenant_id', t.tenant_id,"
        " 'membership_id', t.membership_id, 'role', NULL, 'client_id', NULL)",
        ActorForm(),
    )
    from_status = Computed("NULL::text", serializers.CharField(allow_null=True))
    to_status = Computed("NULL::text", serializers.CharField(allow_null=True))
    details = Computed(
        "json_build_object('interaction', t.interaction, 'count', t.count, 'parameters', to_json(t.parameters),"
        " 'patient_ids', to_json(t.patients))",
        serializers.DictField(),
    )
    ip = Computed("NULL::text", serializers.CharField(allow_null=True))
    user_agent = Computed("NULL::text", serializers.CharField(allow_null=True))
    occurred_at = Instant(source="created_at")
    prev_hash = Computed("NULL::text", serializers.CharField(allow_null=True))
    hash = Computed("NULL::text", serializers.CharField(allow_null=True))

    class Meta:
        model = record.AccessRecord
        name = "audit entry"
        fields = _FIELDS
        blank_as_null = ("request_id",)
        where = f"t.interaction IN ({', '.join(repr(name) for names in record.RX_READS.values() for name in names)})"
        version = None
        example: ClassVar = {**_ENTRY_EXAMPLE, "sequence": None, "action": "read"}


def rows_by(shape: Shape, column: str) -> Callable[[UUID, UUID], Call]:
    """Return what makes the call that reads rows by a column, each as one JSON text, the oldest first."""
    columns = shape.select(Selection()).replace(TENANT, "$1")
    statement = Statement.of(
        f"SELECT row_to_json(r)::text FROM {shape.table} t CROSS JOIN LATERAL (SELECT {columns}) r"
        f' WHERE t.tenant_id = $1 AND t."{column}" = $2 ORDER BY t.created_at, t.id'
    )
    return lambda tenant_id, key: Call(statement, [str(tenant_id), str(key)])
