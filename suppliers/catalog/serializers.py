"""Bodies of the product and category operations: the form of every field. Rules that need the database stand in `rules`."""

import re
from decimal import Decimal
from typing import Any, ClassVar

from rest_framework import serializers

from api.serializers import DecimalField, StrictSerializer, refusal
from core.identifiers import SRN, gtin14

from . import states, vocabularies
from .attributes.serializers import VALUES_MAX, AttributeIn, check_values
from .fields import QUANTITY_MAX, GtinField, PatternField, UnitField, optional_text, refuse_repeated, whole
from .states import DAYS_MAX

COLDEST, WARMEST = Decimal("-273.1"), Decimal("999.9")

_RATIO = re.compile(r"[1-9]\d{0,5}:[1-9]\d{0,5}")
_BASIC_UDI_DI = re.compile(r"[A-Za-z0-9+*$%/.-]{6,25}")
_TAX_CATEGORY = re.compile(r"[A-Za-z0-9_.-]{1,20}")


class PackagingIn(StrictSerializer):
    """One packaging; `id` names an existing packaging of the product, which is then updated."""

    id = serializers.UUIDField(required=False)
    level = serializers.ChoiceField(choices=states.PackagingLevel.choices)
    name = optional_text(120)
    units_per_pack = whole(least=1, most=QUANTITY_MAX, required=True)
    gtin = GtinField(required=False, allow_null=True, default=None)
    orderable = serializers.BooleanField(default=True)
    min_order_quantity = whole(least=1, most=QUANTITY_MAX, default=1)
    order_increment = whole(least=1, most=QUANTITY_MAX, default=1)
    max_order_quantity = whole(least=1, most=QUANTITY_MAX)
    gross_weight_g = whole()
    length_mm = whole()
    width_mm = whole()
    height_mm = whole()

    class Meta:
        example: ClassVar = {"level": "inner", "name": "Box of 100", "units_per_pack": 100, "gtin": "04006381333931"}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        most = attrs["max_order_quantity"]
        if most is not None and most < attrs["min_order_quantity"]:
            raise refusal("max_order_quantity", "This is below min_order_quantity.", "min_value")
        return {**attrs, "name": attrs["name"] or ""}


class UdiIn(StrictSerializer):
    """The device identifier of a UDI, and the risk class of the device.

    `basic_udi_di` names the model in EUDAMED, `srn` its manufacturer there; both are left out where they are not given.
    Source: Regulation (EU) 2017/745, article 31 and annex VI.
    """

    issuing_agency = serializers.ChoiceField(choices=states.IssuingAgency.choices)
    device_identifier = serializers.CharField(max_length=50)
    device_class = serializers.ChoiceField(
        choices=vocabularies.DEVICE_CLASSES, required=False, allow_null=True, default=None
    )
    basic_udi_di = PatternField(_BASIC_UDI_DI, "a Basic UDI-DI", required=False, allow_null=True, allow_blank=True)
    srn = PatternField(SRN, "an SRN such as DE-MF-000012345", required=False, allow_null=True, allow_blank=True)

    class Meta:
        example: ClassVar = {"issuing_agency": "GS1", "device_identifier": "04006381333931", "device_class": "I"}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["issuing_agency"] == states.IssuingAgency.GS1 and gtin14(attrs["device_identifier"]) is None:
            raise refusal("device_identifier", "A GS1 device identifier must be a GTIN.", "invalid_gtin")
        return {name: value for name, value in attrs.items() if value or name not in ("basic_udi_di", "srn")}


class NationalCodeIn(StrictSerializer):
    """A national product number, for example in the system PZN or NDC."""

    system = serializers.CharField(max_length=40)
    value = serializers.CharField(max_length=60)

    class Meta:
        example: ClassVar = {"system": "PZN", "value": "01234567"}


def _classification(system: str, hint: str) -> PatternField:
    """The code of one classification system; absent, null and empty all mean that there is none."""
    form = vocabularies.CLASSIFICATIONS[system]
    return PatternField(form, hint, required=False, allow_null=True, allow_blank=True)


class ClassificationsIn(StrictSerializer):
    """Codes of other classifications; absent, null and empty codes are not stored."""

    atc = _classification("atc", "an ATC code")
    emdn = _classification("emdn", "an EMDN code")
    gmdn = _classification("gmdn", "a GMDN code")
    unspsc = _classification("unspsc", "a UNSPSC code")
    hs_code = _classification("hs_code", "an HS code")

    class Meta:
        example: ClassVar = {
            "atc": "J01CA04",
            "emdn": "T0102",
            "gmdn": "12345",
            "unspsc": "42132203",
            "hs_code": "401512",
        }

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return {name: code for name, code in attrs.items() if code}


def _temperature() -> DecimalField:
    return DecimalField(
        max_digits=4,
        decimal_places=1,
        min_value=COLDEST,
        max_value=WARMEST,
        required=False,
        allow_null=True,
        default=None,
    )


class StorageIn(StrictSerializer):
    """Storage conditions, with temperatures in degrees Celsius; `cold_chain` is derived from `max_c`."""

    min_c = _temperature()
    max_c = _temperature()
    light_sensitive = serializers.BooleanField(default=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        lowest, highest = attrs["min_c"], attrs["max_c"]
        if lowest is None and highest is None:
            raise refusal("max_c", "Give min_c, max_c or both.", "required")
        if lowest is not None and highest is not None and lowest >= highest:
            raise refusal("max_c", "max_c must be above min_c.", "min_value")
        return attrs


class ControlledIn(StrictSerializer):
    """The schedule of a controlled substance, and the licence a buyer needs."""

    schedule = serializers.CharField(max_length=20)
    license_type = optional_text(60)

    class Meta:
        example: ClassVar = {"schedule": "II", "license_type": "pharmacy"}


class HazardousIn(StrictSerializer):
    """The classification of dangerous goods."""

    un_number = PatternField(vocabularies.UN_NUMBER, "a UN number such as UN1170")
    # `class` is a keyword of Python, so the field is added to the namespace by name.
    vars()["class"] = PatternField(
        vocabularies.HAZARD_CLASS, "a hazard class such as 3 or 6.1", required=False, allow_null=True, default=None
    )

    class Meta:
        example: ClassVar = {"un_number": "UN1170", "class": "3"}


class SubstituteIn(StrictSerializer):
    """Another product of the supplier that may replace this one, with the ratio of their quantities."""

    product_id = serializers.UUIDField()
    type = serializers.ChoiceField(choices=states.SubstituteType.choices)
    ratio = PatternField(_RATIO, "a ratio such as 1:2", default="1:1")

    class Meta:
        example: ClassVar = {"ratio": "1:1"}


class ProductIn(StrictSerializer):
    """A product as PUT replaces it; absent members take their defaults."""

    supplier_sku = serializers.CharField(max_length=64)
    name = serializers.CharField(max_length=255)
    description = optional_text(10_000)
    category = serializers.CharField(max_length=64)
    kind = serializers.ChoiceField(choices=states.Kind.choices)
    status = serializers.ChoiceField(choices=states.Status.choices, required=False)
    brand = optional_text(120)
    manufacturer_name = optional_text(255)
    manufacturer_part_number = optional_text(80)
    base_unit = UnitField()
    packagings: serializers.ListSerializer[Any] = serializers.ListSerializer(child=PackagingIn(), max_length=20)
    udi = UdiIn(required=False, allow_null=True, default=None)
    national_codes: serializers.ListSerializer[Any] = serializers.ListSerializer(
        child=NationalCodeIn(), max_length=50, required=False
    )
    classifications = ClassificationsIn(required=False, allow_null=True)
    tracking = serializers.ChoiceField(choices=states.Tracking.choices, required=False)
    expiry_required = serializers.BooleanField(default=False)
    shelf_life_days = whole(least=1, most=DAYS_MAX)
    min_remaining_shelf_life_days = whole(most=DAYS_MAX)
    storage = StorageIn(required=False, allow_null=True, default=None)
    controlled = ControlledIn(required=False, allow_null=True, default=None)
    hazardous = HazardousIn(required=False, allow_null=True, default=None)
    prescription_only = serializers.BooleanField(default=False)
    substitutes: serializers.ListSerializer[Any] = serializers.ListSerializer(
        child=SubstituteIn(), max_length=50, required=False
    )
    tax_category = PatternField(
        _TAX_CATEGORY, "a tax category", required=False, allow_null=True, allow_blank=True, default=""
    )
    country_of_origin = serializers.CharField(required=False, allow_null=True, allow_blank=True, default="")
    lead_time_days = whole(most=DAYS_MAX)
    attributes: serializers.ListSerializer[Any] = serializers.ListSerializer(
        child=AttributeIn(), max_length=VALUES_MAX, required=False
    )

    class Meta:
        example: ClassVar = {
            "supplier_sku": "GLV-NIT-M-100",
            "name": "Nitrile examination gloves, M",
            "category": "gloves",
            "kind": "consumable",
            "status": "active",
            "base_unit": "EA",
            "packagings": [{"level": "inner", "name": "Box of 100", "units_per_pack": 100, "gtin": "4006381333931"}],
            "country_of_origin": "DE",
            "lead_time_days": 3,
        }

    def validate_packagings(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for name in ("id", "gtin"):
            refuse_repeated(value, (name,), "Another packaging of the product has this value.")
        return value

    def validate_attributes(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return check_values(value)

    def validate_substitutes(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        refuse_repeated(value, ("product_id",), "The product is listed twice.")
        return value

    def validate_country_of_origin(self, value: str | None) -> str:
        if value and value not in vocabularies.COUNTRIES:
            raise serializers.ValidationError(
                "This is not a country code of ISO 3166-1 alpha-2.", code="invalid_choice"
            )
        return value or ""

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        life, rest = attrs["shelf_life_days"], attrs["min_remaining_shelf_life_days"]
        if life is not None and rest is not None and rest > life:
            raise refusal("min_remaining_shelf_life_days", "This is more than shelf_life_days.", "max_value")
        return attrs


class ProductCreateIn(ProductIn):
    """A product as POST creates it, as a draft or active."""

    status = serializers.ChoiceField(
        choices=[states.Status.DRAFT.value, states.Status.ACTIVE.value], default=states.Status.DRAFT.value
    )


class CategoryMappingsIn(StrictSerializer):
    """Codes of other taxonomies; absent, null and empty codes are not stored."""

    unspsc = _classification("unspsc", "a UNSPSC code")
    emdn = _classification("emdn", "an EMDN code")
    atc = _classification("atc", "an ATC code")

    class Meta:
        example: ClassVar = {"unspsc": "42132203", "emdn": "T0102", "atc": None}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return {name: code for name, code in attrs.items() if code}


class CategoryIn(StrictSerializer):
    """An own category; `parent_id` is a category of the platform or another own one."""

    code = serializers.RegexField(
        r"^[A-Za-z0-9._-]+$",
        max_length=64,
        error_messages={"invalid": "Use letters, digits, dots, underscores and hyphens."},
    )
    name = serializers.CharField(max_length=120)
    parent_id = serializers.UUIDField()
    mappings = CategoryMappingsIn(required=False, allow_null=True)
    active = serializers.BooleanField(default=True)

    class Meta:
        example: ClassVar = {
            "code": "gloves-nitrile",
            "name": "Nitrile gloves",
            "parent_id": "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f",
            "mappings": {"unspsc": "42132203"},
        }
