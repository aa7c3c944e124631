"""Templates as clients read them."""

from typing import ClassVar

from rest_framework import serializers

from api.representations import Computed, Document, Representation
from prescriptions.prescribing.shapes import DosageForm, QuantityForm, StoredForm
from prescriptions.states import Schedule

from .models import PrescriptionTemplate


class TemplateMedicationForm(StoredForm):
    """A medication by its code."""

    system = serializers.CharField()
    code = serializers.CharField()
    display = serializers.CharField()
    form = serializers.CharField(allow_null=True)
    strength = serializers.CharField(allow_null=True)


class WantedItemForm(StoredForm):
    """One medication as it is to be prescribed."""

    medication = TemplateMedicationForm(allow_null=True)
    medication_text = serializers.CharField(allow_null=True)
    dosage = DosageForm(many=True)
    quantity = QuantityForm(allow_null=True)
    quantity_in_words = serializers.CharField(allow_null=True)
    days_supply = serializers.IntegerField(allow_null=True)
    fills_allowed = serializers.IntegerField()
    dispense_interval_days = serializers.IntegerField(allow_null=True)
    substitution_allowed = serializers.BooleanField()
    substitution_reason = serializers.CharField(allow_null=True)
    authorization_number = serializers.CharField(allow_null=True)
    schedule = serializers.ChoiceField(choices=Schedule.choices, allow_null=True)


class TemplateOut(Representation):
    """A template of prescriptions."""

    items = Document(WantedItemForm(many=True))
    is_active = Computed('t."archived_at" IS NULL', serializers.BooleanField())

    class Meta:
        model = PrescriptionTemplate
        name = "template"
        fields = (
            "id", "tenant_id", "name", "description", "visibility", "location_id", "specialty", "items",
            "default_notes", "is_active", "owner_id", "usage_count", "created_at", "updated_at", "version",
        )  # fmt: skip
        where = 't."archived_at" IS NULL'
        unversioned = 't."usage_count"::text'
        blank_as_null = ("description", "specialty", "default_notes")
        example: ClassVar = {"name": "Sore throat", "visibility": "tenant"}
