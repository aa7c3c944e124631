"""The shapes of JSON columns in answers, for the API document."""

from typing import Any

from rest_framework import serializers

from api.representations import Instant, OpenChoice


class StoredForm(serializers.Serializer[Any]):
    """A JSON value that is answered as it is stored."""

    def to_representation(self, instance: Any) -> Any:
        return instance


class QuantityForm(StoredForm):
    """A quantity: a decimal string and its unit."""

    value = serializers.CharField()
    unit = serializers.CharField()


class DurationForm(StoredForm):
    """A length of time."""

    value = serializers.CharField()
    unit = serializers.CharField()


class MedicationForm(StoredForm):
    """A medication by its code, with its ingredients as the tables of medications know them."""

    system = serializers.CharField()
    code = serializers.CharField()
    display = serializers.CharField()
    ingredient_codes = serializers.ListField(child=serializers.CharField())
    form = serializers.CharField(allow_null=True)
    strength = serializers.CharField(allow_null=True)


class DosageForm(StoredForm):
    """How a medication is to be taken."""

    text = serializers.CharField()
    dose = QuantityForm(allow_null=True)
    route = serializers.CharField(allow_null=True)
    site = serializers.CharField(allow_null=True)
    method = serializers.CharField(allow_null=True)
    frequency = serializers.IntegerField(allow_null=True)
    period = serializers.CharField(allow_null=True)
    period_unit = serializers.CharField(allow_null=True)
    duration = DurationForm(allow_null=True)
    as_needed = serializers.BooleanField()
    as_needed_reason = serializers.CharField(allow_null=True)
    max_dose_per_day = QuantityForm(allow_null=True)


class PatientForm(StoredForm):
    """The patient as at the signing."""

    name = serializers.CharField(allow_null=True)
    birth_date = serializers.CharField(allow_null=True)
    sex = serializers.CharField(allow_null=True)
    address = serializers.CharField(allow_null=True)


class PrescriberForm(StoredForm):
    """The prescriber as at the signing."""

    name = serializers.CharField(allow_null=True)
    licence = serializers.CharField(allow_null=True)
    phone = serializers.CharField(allow_null=True)


class OverrideForm(StoredForm):
    """Who has overridden an issue, and why."""

    reason_code = serializers.CharField(allow_null=True)
    text = serializers.CharField(allow_null=True)
    by = serializers.UUIDField()
    at = Instant()


class IssueForm(StoredForm):
    """What a rule has found; `fingerprint` names it in `overrides`."""

    code = serializers.CharField()
    severity = OpenChoice(choices=["info", "low", "moderate", "high", "contraindicated", "blocking"])
    lines = serializers.ListField(child=serializers.IntegerField())
    message = serializers.CharField()
    fingerprint = serializers.CharField()
    evaluated = serializers.BooleanField()
    needs = OpenChoice(choices=["acknowledge", "override", "none"])
    override = OverrideForm(allow_null=True)


class TableForm(StoredForm):
    """A table of knowledge and its version."""

    table = serializers.CharField()
    version = serializers.CharField()


class RunForm(StoredForm):
    """A run of the clinical rules; `stale` once the prescription was changed."""

    id = serializers.UUIDField()
    outcome = OpenChoice(choices=["passed", "passed_with_overrides", "blocked"])
    issues = IssueForm(many=True)
    engine_version = serializers.CharField()
    knowledge = TableForm(many=True)
    inputs_digest = serializers.CharField()
    duration_ms = serializers.IntegerField()
    at = Instant()
    stale = serializers.BooleanField()


class ReceivedOverrideForm(StoredForm):
    """An override as the pharmacy sees it."""

    code = serializers.CharField()
    lines = serializers.ListField(child=serializers.IntegerField())
    reason_code = serializers.CharField(allow_null=True)


class ReceivedRunForm(StoredForm):
    """What the pharmacy sees of the validation."""

    outcome = serializers.CharField()
    overrides = ReceivedOverrideForm(many=True)
