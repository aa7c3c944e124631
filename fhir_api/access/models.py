"""Tables of the access log: one append-only record for each read of patients' data, and whose data it was.

Both are cut into months of `created_at` and dropped by age (`upkeep`); Django keeps `id` as their key.
"""

from typing import ClassVar, Final

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from core.ids import uuid7
from core.row_security import TableSecurity
from core.tenant_rows import TenantRow

# What a reader of the log is shown of a record, in this order.
SHOWN: Final = (
    "id",
    "created_at",
    "subject_kind",
    "subject_id",
    "credential",
    "membership_id",
    "interaction",
    "resource_type",
    "resource_id",
    "parameters",
    "patients",
    "count",
    "outcome",
    "reason",
    "request_id",
)


class AccessRecord(TenantRow):
    """One read: who, by which credential and membership, what, how much of it, with which end, and why.

    `interaction` is `read`, `vread`, `search`, `lastn`, `meta`, `history`, `everything`, `export`, `delete` where criteria
    chose what was deleted, `validation` by rules of the platform, or `staff` for its own people. Other apps name theirs
    (`record_read`): `rx.read`, `rx.list`, `rx.verify`, `rx.export` of prescriptions, `appt.read`, `appt.list` of
    appointments.
    `parameters` are names of search parameters, never values. `reason` is what somebody gave who read in an emergency
    (break-glass); "" for everybody else. `outcome` is the answer's status.
    Personal data: ids only, and the words of `reason`.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created_at = models.DateTimeField(db_default=Now())
    tenant_id = models.UUIDField()
    subject_id = models.UUIDField()
    subject_kind = models.CharField(max_length=10)
    credential = models.CharField(max_length=120)
    membership_id = models.UUIDField(null=True)
    request_id = models.CharField(max_length=128, blank=True)
    interaction = models.CharField(max_length=20)
    resource_type = models.CharField(max_length=24, blank=True)
    resource_id = models.CharField(max_length=64, blank=True, db_collation="C")
    parameters = ArrayField(models.CharField(max_length=80), default=list)
    patients = ArrayField(models.CharField(max_length=64), default=list)
    count = models.PositiveIntegerField()
    outcome = models.PositiveSmallIntegerField()
    reason = models.CharField(max_length=500, blank=True)

    security: ClassVar = TableSecurity(append_only=True)
    partitioned: ClassVar = True

    class Meta:
        indexes = [
            models.Index(fields=["tenant_id", "created_at", "id"], name="fhir_api_access_by_time"),
            models.Index(fields=["tenant_id", "subject_id", "created_at", "id"], name="fhir_api_access_by_subject"),
        ]

    def __str__(self) -> str:
        return f"{self.interaction} {self.id}"


class AccessPatient(TenantRow):
    """That a record (`id`) is about a patient: the index by which "who read of this patient" is answered.

    A table of its own because array operators use no index under row security. Personal data: ids only.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    created_at = models.DateTimeField()
    tenant_id = models.UUIDField()
    patient = models.CharField(max_length=64, db_collation="C")

    security: ClassVar = TableSecurity(append_only=True)
    partitioned: ClassVar = True

    def __str__(self) -> str:
        return f"patient of {self.id}"
