"""Bodies of the operations on prescriptions: the form of every field. Rules that need the database stand in `rules`."""

from decimal import Decimal
from typing import Any, ClassVar

from rest_framework import serializers

from api.serializers import DateField, DecimalField, StrictSerializer, read
from prescriptions import vocabularies
from prescriptions.states import Category, Priority, Schedule

FHIR_ID = r"^[A-Za-z0-9\-.]{1,64}$"
UNITS_OF_TIME = ("s", "min", "h", "d", "wk", "mo", "a")
ATTESTATION_VERSIONS = ("1",)
MOST_ITEMS, MOST_DOSAGES = 20, 10
LARGEST = Decimal("999999999.9999")


def refusal(field: str, message: str, code: str) -> serializers.ValidationError:
    """Make the error of one member."""
    return serializers.ValidationError({field: serializers.ErrorDetail(message, code=code)})


def optional_text(length: int, **options: Any) -> serializers.CharField:
    """Return a text that may be absent, null or empty; all three mean that there is none."""
    given: dict[str, Any] = {"required": False, "allow_null": True, "allow_blank": True, "default": "", **options}
    return serializers.CharField(max_length=length, **given)


def many(form: Any, **options: Any) -> Any:
    """Return a list of objects; `min_length` and `max_length` bound it."""
    return form(many=True, **options)


def fhir_id(**options: Any) -> serializers.RegexField:
    """Return the id of a resource of the tenant's record. Source: FHIR R4, id."""
    return serializers.RegexField(FHIR_ID, **options)


def optional_id() -> serializers.RegexField:
    """Return the id of a resource that may be absent or null."""
    return fhir_id(required=False, allow_null=True, default=None)


class AmountField(DecimalField):
    """A positive number as a decimal string; the stored form has no trailing zeros."""

    def __init__(self, **options: Any) -> None:
        given: dict[str, Any] = {"max_digits": 14, "decimal_places": 4, "min_value": Decimal("0.0001"), **options}
        super().__init__(**given)

    def to_internal_value(self, data: Any) -> Decimal:
        """Read a decimal string.

        :raises ValidationError: a JSON number, whose digits are not exact.
        """
        if not isinstance(data, str):
            raise serializers.ValidationError("Write numbers as decimal strings.", code="invalid")
        found: Decimal = super().to_internal_value(data)
        return found


class CodingIn(StrictSerializer):
    """A code of a code system. Source: FHIR R4, Coding."""

    system = serializers.CharField(max_length=255)
    code = serializers.CharField(max_length=100)
    display = optional_text(255)

    class Meta:
        example: ClassVar = {"system": "http://snomed.info/sct", "code": "38341003", "display": "Hypertension"}


class MedicationIn(StrictSerializer):
    """A medication by its code; any code system is taken."""

    system = serializers.CharField(max_length=255)
    code = serializers.CharField(max_length=100)
    display = serializers.CharField(max_length=255)
    form = optional_text(100)
    strength = optional_text(100)

    class Meta:
        example: ClassVar = {
            "system": "http://www.nlm.nih.gov/research/umls/rxnorm",
            "code": "308182",
            "display": "amoxicillin 250 MG Oral Capsule",
        }


class QuantityIn(StrictSerializer):
    """A quantity: a decimal string and its unit."""

    value = AmountField()
    unit = serializers.CharField(max_length=40)

    class Meta:
        example: ClassVar = {"value": "20", "unit": "tablet"}


class DurationIn(StrictSerializer):
    """A length of time; the unit is one of UCUM."""

    value = AmountField()
    unit = serializers.ChoiceField(choices=UNITS_OF_TIME)

    class Meta:
        example: ClassVar = {"value": "10", "unit": "d"}


class DosageIn(StrictSerializer):
    """How a medication is to be taken. Source: FHIR R4, Dosage."""

    text = serializers.CharField(max_length=500)
    dose = QuantityIn(required=False, allow_null=True, default=None)
    route = optional_text(100)
    site = optional_text(100)
    method = optional_text(100)
    frequency = serializers.IntegerField(min_value=1, max_value=1000, required=False, allow_null=True, default=None)
    period = AmountField(required=False, allow_null=True, default=None)
    period_unit = serializers.ChoiceField(choices=UNITS_OF_TIME, required=False, allow_null=True, default=None)
    duration = DurationIn(required=False, allow_null=True, default=None)
    as_needed = serializers.BooleanField(default=False)
    as_needed_reason = optional_text(255)
    max_dose_per_day = QuantityIn(required=False, allow_null=True, default=None)

    class Meta:
        example: ClassVar = {
            "text": "1 tablet twice a day",
            "dose": {"value": "1", "unit": "tablet"},
            "frequency": 2,
            "period": "1",
            "period_unit": "d",
        }

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Demand a unit beside each period."""
        if (attrs["period"] is None) != (attrs["period_unit"] is None):
            raise refusal("period_unit", "period and period_unit belong together.", "invalid")
        return attrs


class ItemIn(StrictSerializer):
    """One medication of a prescription: a code, or free text where the tenant's policies allow it."""

    medication = MedicationIn(required=False, allow_null=True, default=None)
    medication_text = optional_text(500)
    dosage = many(DosageIn, min_length=1, max_length=MOST_DOSAGES)
    quantity = QuantityIn()
    quantity_in_words = optional_text(200)
    days_supply = serializers.IntegerField(min_value=1, max_value=365, required=False, allow_null=True, default=None)
    fills_allowed = serializers.IntegerField(min_value=1, max_value=99, default=1)
    dispense_interval_days = serializers.IntegerField(
        min_value=1, max_value=365, required=False, allow_null=True, default=None
    )
    substitution_allowed = serializers.BooleanField(default=True)
    substitution_reason = optional_text(500)
    authorization_number = optional_text(50)
    schedule = serializers.ChoiceField(choices=Schedule.choices, required=False, allow_null=True, default=None)

    class Meta:
        example: ClassVar = {
            "medication": MedicationIn.Meta.example,
            "dosage": [DosageIn.Meta.example],
            "quantity": QuantityIn.Meta.example,
        }

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Demand a code or a text, and not both."""
        if (attrs["medication"] is None) == (not attrs["medication_text"]):
            raise refusal("medication", "Name either a medication or a medication_text.", "required")
        return attrs


class ItemsIn(StrictSerializer):
    """The items of a template as those of a prescription."""

    items = many(ItemIn, min_length=1, max_length=MOST_ITEMS)

    class Meta:
        example: ClassVar = {"items": [ItemIn.Meta.example]}


def items_of_template(items: Any) -> Any:
    """Check the items of a template as those of a body.

    :raises InvalidFields: they lack what a prescription needs.
    """
    return read(ItemsIn, {"items": items})["items"]


class PrescriptionDraftIn(StrictSerializer):
    """A draft as its author writes it; without `items` those of the template are taken."""

    patient_id = fhir_id()
    items = many(ItemIn, required=False, allow_null=True, default=None, min_length=1, max_length=MOST_ITEMS)
    template_id = serializers.UUIDField(required=False, allow_null=True, default=None)
    encounter_id = optional_id()
    prescriber_id = optional_id()
    location_id = serializers.UUIDField(required=False, allow_null=True, default=None)
    reason_codes = many(CodingIn, required=False, default=list, max_length=20)
    priority = serializers.ChoiceField(choices=Priority.choices, default=Priority.ROUTINE)
    category = serializers.ChoiceField(choices=Category.choices, default=Category.OUTPATIENT)
    valid_from = DateField(required=False, allow_null=True, default=None)
    notes_to_pharmacy = optional_text(1000)
    patient_instructions = optional_text(2000)
    prior_prescription_id = serializers.UUIDField(required=False, allow_null=True, default=None)

    class Meta:
        example: ClassVar = {"patient_id": "pat-1", "items": [ItemIn.Meta.example]}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Demand items, from the body or from a template."""
        if attrs["items"] is None and attrs["template_id"] is None:
            raise refusal("items", "Give items, or a template_id.", "required")
        return attrs


class OverrideIn(StrictSerializer):
    """What a prescriber says to one issue of the last run, named by its fingerprint."""

    fingerprint = serializers.RegexField(r"^[0-9a-f]{16,64}$")
    reason_code = serializers.ChoiceField(
        choices=vocabularies.OVERRIDE, required=False, allow_null=True, allow_blank=True, default=""
    )
    text = optional_text(500)

    class Meta:
        example: ClassVar = {"fingerprint": "0f" * 16, "reason_code": "benefit_outweighs_risk"}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Demand a text for the reason `other`."""
        if attrs["reason_code"] == vocabularies.OTHER and len((attrs["text"] or "").strip()) < 10:
            raise refusal("text", "The reason other needs a text of at least 10 characters.", "required")
        return attrs


class ValidateIn(StrictSerializer):
    """Overrides of issues that the last run has found."""

    overrides = many(OverrideIn, required=False, default=list, max_length=100)

    class Meta:
        example: ClassVar[dict[str, Any]] = {"overrides": []}


class SignIn(ValidateIn):
    """What the signature says; `external_signature` is a detached JWS over the signing payload."""

    attestation_version = serializers.ChoiceField(
        choices=ATTESTATION_VERSIONS, required=False, allow_null=True, allow_blank=True, default=""
    )
    external_signature = optional_text(20_000)

    class Meta:
        example: ClassVar[dict[str, Any]] = {"overrides": []}


class RouteIn(StrictSerializer):
    """The pharmacy that is to dispense; without it the tenant's default one."""

    pharmacy_location_id = serializers.UUIDField(required=False, allow_null=True, default=None)
    note = optional_text(500)
    priority = serializers.ChoiceField(choices=Priority.choices, required=False, allow_null=True, default=None)

    class Meta:
        example: ClassVar = {"pharmacy_location_id": "0197b0c8-7b7e-7000-8000-000000000001"}


class PrescriptionCancelIn(StrictSerializer):
    """Why a prescription is cancelled."""

    reason_code = serializers.ChoiceField(
        choices=vocabularies.CANCEL, required=False, allow_null=True, allow_blank=True, default=""
    )
    reason_text = optional_text(500)

    class Meta:
        example: ClassVar = {"reason_code": "patient_request"}
