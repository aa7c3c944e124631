"""The platform's and the tenants' tables of medications, their search terms and their versions.

Each of the four tables stands twice: a global one of the platform, and one for the rows of tenants. A tenant's row hides
the platform's row of the same key. The `version` of a row is that of the table when the row came or last changed.
"""

from typing import Any, ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Left, Lower, Now

from core.clock import now
from core.ids import uuid7
from core.row_security import LOCAL, REFERENCE, TableSecurity
from core.tenant_rows import TenantRow
from core.versioned import Versioned
from organizations.public import TenantOwned

from .schedules import NONE, SCHEDULES

SEVERITIES = ("contraindicated", "high", "moderate", "low")
KINDS = ("ingredient", "class")
SORTED_LETTERS = 200  # an entry of an index holds at most 2,704 bytes, and names of packs are longer


def _tokens() -> Any:
    return ArrayField(models.CharField(max_length=200), default=list)


class PlatformRow(Versioned):
    """Base of the platform's rows. Personal data: none of its own."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    demonstration = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=now, db_default=Now(), editable=False)

    security: ClassVar = REFERENCE

    class Meta:
        abstract = True


class MedicationColumns(models.Model):
    """What is known of a medication. Personal data: none of its own."""

    system = models.CharField(max_length=255)
    code = models.CharField(max_length=100)
    display = models.CharField(max_length=3000)
    display_sort = models.GeneratedField(
        expression=Left(Lower("display"), SORTED_LETTERS), output_field=models.TextField(), db_persist=True
    )
    ingredients = _tokens()
    classes = _tokens()
    form = models.CharField(max_length=120, blank=True, default="")
    strength = models.CharField(max_length=200, blank=True, default="")
    unit = models.CharField(max_length=60, blank=True, default="")
    schedule = models.CharField(max_length=4, default=NONE)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.display


class PlatformMedication(MedicationColumns, PlatformRow):
    """A medication of the platform's table. Personal data: none."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["system", "code"], name="prescriptions_platmed_code_taken"),
            models.CheckConstraint(condition=Q(schedule__in=SCHEDULES), name="prescriptions_platmed_schedule"),
        ]
        indexes = [
            models.Index(fields=["display_sort", "id"], name="rx_platmed_display"),
            models.Index(fields=["code", "id"], name="rx_platmed_code"),
            models.Index(fields=["created_at", "id"], name="rx_platmed_created"),
            models.Index(fields=["updated_at", "id"], name="rx_platmed_updated"),
            models.Index(
                fields=["schedule", "display_sort", "id"],
                condition=~Q(schedule=NONE),
                name="rx_platmed_scheduled",
            ),
        ]


class TenantMedication(MedicationColumns, TenantOwned):
    """A medication of a tenant's own table. Personal data: none."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "system", "code"], name="prescriptions_medication_code_taken"),
            models.CheckConstraint(condition=Q(schedule__in=SCHEDULES), name="prescriptions_medication_schedule"),
        ]
        indexes = [
            models.Index(fields=["tenant", "display_sort", "id"], name="rx_med_display"),
            models.Index(fields=["tenant", "code", "id"], name="rx_med_code"),
            models.Index(fields=["tenant", "created_at", "id"], name="rx_med_created"),
            models.Index(fields=["tenant", "updated_at", "id"], name="rx_med_updated"),
            models.Index(
                fields=["tenant", "schedule", "display_sort", "id"],
                condition=~Q(schedule=NONE),
                name="rx_med_scheduled",
            ),
        ]


class InteractionColumns(models.Model):
    """An interaction of two ingredients or classes; `a` is the one that sorts first. Personal data: none of its own."""

    a = models.CharField(max_length=200, db_collation="C")
    b = models.CharField(max_length=200, db_collation="C")
    severity = models.CharField(max_length=15)
    text = models.CharField(max_length=2000, blank=True, default="")
    source = models.CharField(max_length=500, blank=True, default="")

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.a} x {self.b}"


class PlatformInteraction(InteractionColumns, PlatformRow):
    """An interaction of the platform's table. Personal data: none."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["a", "b"], name="prescriptions_platinter_pair_taken"),
            models.CheckConstraint(condition=Q(a__lte=F("b")), name="prescriptions_platinter_in_order"),
            models.CheckConstraint(condition=Q(severity__in=SEVERITIES), name="prescriptions_platinter_severity"),
        ]


class TenantInteraction(InteractionColumns, TenantOwned):
    """An interaction of a tenant's own table. Personal data: none."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "a", "b"], name="prescriptions_interaction_pair_taken"),
            models.CheckConstraint(condition=Q(a__lte=F("b")), name="prescriptions_interaction_in_order"),
            models.CheckConstraint(condition=Q(severity__in=SEVERITIES), name="prescriptions_interaction_severity"),
        ]


def _amount(decimal_places: int = 3) -> Any:
    return models.DecimalField(max_digits=15, decimal_places=decimal_places, null=True)


DOSE_KEY = ("ingredient", "route", "age_from", "age_to", "weight_from", "weight_to", "per_kg")


def _dose_checks(stem: str) -> list[models.CheckConstraint]:
    """The checks of a table of doses: each band has a lower end, and there is a maximum above zero."""
    return [
        models.CheckConstraint(
            condition=Q(age_from__isnull=True) | Q(age_to__isnull=True) | Q(age_from__lt=F("age_to")),
            name=f"prescriptions_{stem}_ages",
        ),
        models.CheckConstraint(
            condition=Q(weight_from__isnull=True) | Q(weight_to__isnull=True) | Q(weight_from__lt=F("weight_to")),
            name=f"prescriptions_{stem}_weights",
        ),
        models.CheckConstraint(
            condition=Q(single_max__gt=0) | Q(daily_max__gt=0), name=f"prescriptions_{stem}_has_maximum"
        ),
    ]


class DoseColumns(models.Model):
    """The largest doses of an ingredient by a route, for a band of ages (years) and weights (kilograms).

    The lower bound belongs to the band, the upper does not. Personal data: none of its own.
    """

    ingredient = models.CharField(max_length=200)
    route = models.CharField(max_length=100, blank=True, default="")
    age_from = _amount()
    age_to = _amount()
    weight_from = _amount()
    weight_to = _amount()
    single_max = _amount(6)
    daily_max = _amount(6)
    unit = models.CharField(max_length=60)
    per_kg = models.BooleanField(default=False)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.ingredient} {self.route}"


class PlatformDose(DoseColumns, PlatformRow):
    """A dose of the platform's table. Personal data: none."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=DOSE_KEY, nulls_distinct=False, name="prescriptions_platdose_band_taken"),
            *_dose_checks("platdose"),
        ]


class TenantDose(DoseColumns, TenantOwned):
    """A dose of a tenant's own table. Personal data: none."""

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", *DOSE_KEY], nulls_distinct=False, name="prescriptions_dose_band_taken"
            ),
            *_dose_checks("dose"),
        ]


class AllergyTermColumns(models.Model):
    """A code of an allergy and the ingredient or class that it means. Personal data: none of its own."""

    system = models.CharField(max_length=255)
    code = models.CharField(max_length=100)
    display = models.CharField(max_length=1000, blank=True, default="")
    kind = models.CharField(max_length=10)
    value = models.CharField(max_length=200)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.code} {self.value}"


class PlatformAllergyTerm(AllergyTermColumns, PlatformRow):
    """A code of the platform's allergy map. Personal data: none."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["system", "code", "kind", "value"], name="prescriptions_platallergy_taken"),
            models.CheckConstraint(condition=Q(kind__in=KINDS), name="prescriptions_platallergy_kind"),
        ]


class TenantAllergyTerm(AllergyTermColumns, TenantOwned):
    """A code of a tenant's own allergy map. Personal data: none."""

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "system", "code", "kind", "value"], name="prescriptions_allergy_taken"
            ),
            models.CheckConstraint(condition=Q(kind__in=KINDS), name="prescriptions_allergy_kind"),
        ]


class PlatformMedicationWord(models.Model):
    """A search term of a medication of the platform. Personal data: none."""

    pk = models.CompositePrimaryKey("word", "medication_id")
    word = models.CharField(max_length=80, db_collation="C")
    medication_id = models.UUIDField()

    security: ClassVar = REFERENCE

    class Meta:
        indexes = [models.Index(fields=["medication_id"], name="rx_platmedword_of")]

    def __str__(self) -> str:
        return self.word


class TenantMedicationWord(TenantRow):
    """A search term of a tenant's medication. Personal data: none."""

    pk = models.CompositePrimaryKey("tenant_id", "word", "medication_id")
    tenant_id = models.UUIDField()
    word = models.CharField(max_length=80, db_collation="C")
    medication_id = models.UUIDField()

    security: ClassVar = TableSecurity()

    class Meta:
        indexes = [models.Index(fields=["tenant_id", "medication_id"], name="rx_medword_of")]

    def __str__(self) -> str:
        return self.word


class VersionColumns(models.Model):
    """One load of a table: its number, its content as a digest, and what it changed. Personal data: none of its own."""

    table = models.CharField(max_length=20)
    number = models.PositiveIntegerField()
    digest = models.CharField(max_length=64)
    rows = models.PositiveIntegerField()
    added = models.PositiveIntegerField()
    changed = models.PositiveIntegerField()
    removed = models.PositiveIntegerField()
    source = models.CharField(max_length=200)
    loaded_at = models.DateTimeField()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.table} {self.number}"


class PlatformTableVersion(VersionColumns):
    """A version of a table of the platform; `demonstration` marks one that is not for clinical use.

    Personal data: none.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    demonstration = models.BooleanField()

    security: ClassVar = TableSecurity(tenant_column=None, placement="reference", append_only=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["table", "number"], name="prescriptions_platversion_taken")]


class TenantTableVersion(VersionColumns, TenantRow):
    """A version of a tenant's own table. Personal data: none."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey("organizations.Tenant", on_delete=models.PROTECT, related_name="+", db_index=False)

    security: ClassVar = TableSecurity(append_only=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "table", "number"], name="prescriptions_tabversion_taken")
        ]


class IncomingRow(models.Model):
    """A row of a file on its way into a table. It is deleted in the transaction that made it, so nobody ever reads it.

    The roles of the service may not make temporary tables. Personal data: none.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    load_id = models.UUIDField()
    content = models.JSONField()
    words = ArrayField(models.CharField(max_length=80), default=list)

    security: ClassVar = LOCAL

    def __str__(self) -> str:
        return str(self.id)
