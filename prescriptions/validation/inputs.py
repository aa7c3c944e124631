"""What a run of the clinical validation is given: nothing else is read, and nothing is fetched."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from prescriptions.medications.knowledge import Knowledge

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Item:
    """An item of the prescription; `dosage` holds Dosage objects as the API takes them.

    Either system, code and display are set, or `medication_text`. `schedule` is what the prescriber wrote, "" for nothing.
    """

    line: int
    system: str = ""
    code: str = ""
    display: str = ""
    medication_text: str = ""
    ingredient_codes: tuple[str, ...] = ()
    form: str = ""
    dosage: Sequence[Json] = ()
    quantity: Decimal = Decimal(1)
    quantity_unit: str = ""
    quantity_in_words: str = ""
    days_supply: int | None = None
    fills_allowed: int = 1
    schedule: str = ""


@dataclass(frozen=True, slots=True)
class PatientRecord:
    """What the clinical record holds of the patient, as FHIR resources whose decimals kept their digits.

    `medications` are Medication resources that statements refer to.
    """

    patient: Json | None
    allergies: Sequence[Json] = ()
    conditions: Sequence[Json] = ()
    statements: Sequence[Json] = ()
    observations: Sequence[Json] = ()
    medications: Sequence[Json] = ()


@dataclass(frozen=True, slots=True)
class OtherPrescription:
    """Another prescription of the patient that can still be dispensed, with the items of which something remains.

    `is_continued` tells that the prescription which is validated names it as its prior one, as a renewal does.
    """

    id: str
    number: str
    items: Sequence[Item]
    is_continued: bool = False


@dataclass(frozen=True, slots=True)
class Prescriber:
    """The practitioner who is to sign; `practitioner` is None where the record holds none of this id."""

    practitioner_id: str = ""
    practitioner: Json | None = None


@dataclass(frozen=True, slots=True)
class Policies:
    """The policies of the tenant that rules and overrides read. Source: contract, organizations.md, "Policy keys"."""

    max_days_supply: int | None = None
    max_quantity: Sequence[Json] = ()
    dose_contraindicated_factor: Decimal = Decimal(3)
    controlled_max_fills: int = 1
    controlled_words_required: bool = True
    allow_contraindicated_override: bool = False

    @classmethod
    def of(cls, values: Json) -> "Policies":
        """Take them from the tenant's effective policies; what is missing has its default."""
        taken = {name: values[name] for name in cls.__dataclass_fields__ if name in values}
        if "dose_contraindicated_factor" in taken:
            taken["dose_contraindicated_factor"] = Decimal(str(taken["dose_contraindicated_factor"]))
        return cls(**taken)


@dataclass(frozen=True, slots=True)
class Inputs:
    """All that one run reads; `today` is the date in the prescription's time zone, `language` the tenant's (BCP 47)."""

    items: Sequence[Item]
    record: PatientRecord
    knowledge: Knowledge
    at: datetime
    today: date
    others: Sequence[OtherPrescription] = ()
    prescriber: Prescriber = field(default_factory=Prescriber)
    policies: Policies = field(default_factory=Policies)
    language: str = "en"
