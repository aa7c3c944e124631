"""Body of the supplier's profile. Source: contract, supply-shelf.md "Supplier profile"."""

from datetime import date
from decimal import Decimal
from typing import Any, ClassVar, Final

from rest_framework import serializers

from api.serializers import DateField, DecimalField, StrictSerializer, refusal
from core.canonical import decimal_text
from core.identifiers import SRN, bic, duns, gln, iban, lei, vat_number
from core.money import minor_units

from .fields import CountryField, CurrencyField, WholeEntry, entries, refuse_twins, text
from .states import AddressUse, ContactRole, LicenseType, Scheme

BODY_BYTES: Final = 5 * 1_048_576
MOST_GROUPS: Final = 100
MOST_BUYERS: Final = 1_000
MOST_ORGANIZATIONS: Final = 100
_CODE: Final = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\Z"
_ID: Final = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"


def _srn(text: str) -> str | None:
    """Return a single registration number of EUDAMED. Source: Regulation (EU) 2017/745, article 31."""
    return text if SRN.fullmatch(text) else None


# By scheme: brings a number to its canonical form, None for a text that is no such number.
_CHECKED: Final = {Scheme.VAT: vat_number, Scheme.GLN: gln, Scheme.DUNS: duns, Scheme.LEI: lei, Scheme.SRN: _srn}


class RegistrationIn(WholeEntry):
    """A number under which the supplier is registered; those of VAT, GLN, DUNS, LEI and SRN are checked."""

    scheme = serializers.ChoiceField(choices=Scheme.choices)
    value = serializers.CharField(max_length=64)

    class Meta:
        example: ClassVar = {"scheme": "GLN", "value": "4006381000000"}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check the number, and bring it to its canonical form.

        Source: GS1 General Specifications 7.9 (GLN), ISO 17442 (LEI), Directive 2006/112/EC article 215 (VAT), EUDAMED (SRN).
        """
        check = _CHECKED.get(attrs["scheme"])
        found = check(attrs["value"]) if check else attrs["value"]
        if found is None:
            raise refusal("value", f"This is no valid number of the scheme {attrs['scheme']}.", "invalid_number")
        return {"scheme": attrs["scheme"], "value": found}


class SupplierAddressIn(WholeEntry):
    """An address of the supplier."""

    use = serializers.ChoiceField(choices=AddressUse.choices, default=AddressUse.LEGAL.value)
    lines = serializers.ListField(child=serializers.CharField(max_length=200), min_length=1, max_length=5)
    city = serializers.CharField(max_length=120)
    state = text(120)
    postal_code = text(20)
    country = CountryField()

    class Meta:
        example: ClassVar = {"use": "legal", "lines": ["1 Harbour Road"], "city": "Hamburg", "country": "DE"}


class SupplierContactIn(WholeEntry):
    """Whom buyers may turn to."""

    role = serializers.ChoiceField(choices=ContactRole.choices, default=ContactRole.GENERAL.value)
    name = text(200)
    email = serializers.EmailField(max_length=254, required=False, allow_null=True, allow_blank=True, default=None)
    phone = text(40)

    class Meta:
        example: ClassVar = {"role": "orders", "email": "orders@supplier.example"}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require a way to reach the contact."""
        if not (attrs["email"] or attrs["phone"]):
            raise refusal("email", "Give email, phone or both.", "required")
        return attrs


class PaymentTermsIn(WholeEntry):
    """When an invoice is due, and what paying early saves."""

    net_days = serializers.IntegerField(min_value=0, max_value=365)
    discount_percent = DecimalField(
        max_digits=5, decimal_places=2, min_value=Decimal("0.01"), max_value=Decimal(100), required=False, allow_null=True,
        default=None,
    )  # fmt: skip
    discount_days = serializers.IntegerField(min_value=0, max_value=365, required=False, allow_null=True, default=None)
    note = text(500)

    class Meta:
        example: ClassVar = {"net_days": 30, "discount_percent": "2", "discount_days": 10}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require that a discount has its days, which end before the invoice is due."""
        percent, days = attrs["discount_percent"], attrs["discount_days"]
        if (percent is None) != (days is None):
            raise refusal("discount_days", "discount_percent and discount_days belong together.", "required")
        if days is not None and days > attrs["net_days"]:
            raise refusal("discount_days", "Must not be above net_days.", "max_value")
        return {**attrs, "discount_percent": None if percent is None else decimal_text(percent)}


class MoneyIn(WholeEntry):
    """An amount of money."""

    amount = DecimalField(max_digits=19, decimal_places=4, min_value=Decimal(0))
    currency = CurrencyField()

    class Meta:
        example: ClassVar = {"amount": "100.00", "currency": "EUR"}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse more decimals than the currency has, and write exactly as many."""
        places = minor_units(attrs["currency"])
        exact = attrs["amount"].quantize(Decimal(1).scaleb(-places))
        if exact != attrs["amount"]:
            raise refusal("amount", f"The currency has {places} decimals.", "max_decimal_places")
        return {"amount": f"{exact:f}", "currency": attrs["currency"]}


class LicenseIn(WholeEntry):
    """A licence. It holds from `valid_from` to the day before `valid_to`; without them from ever, and for good."""

    type = serializers.ChoiceField(choices=LicenseType.choices)
    number = serializers.CharField(max_length=80)
    authority = text(200)
    valid_from = DateField(required=False, allow_null=True, default=None)
    valid_to = DateField(required=False, allow_null=True, default=None)
    file_id = serializers.UUIDField(required=False, allow_null=True, default=None)

    class Meta:
        example: ClassVar = {
            "type": "wholesale",
            "number": "WDA-4711",
            "authority": "BGV Hamburg",
            "valid_to": "2028-01-01",
        }

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require that the period is not empty."""
        begins, ends = attrs["valid_from"], attrs["valid_to"]
        if begins and ends and ends <= begins:
            raise refusal("valid_to", "Must be after valid_from.", "min_value")
        return {**attrs, "authority": attrs["authority"] or ""}


class BankAccountIn(WholeEntry):
    """Where the supplier is paid. Only the last four characters of the IBAN are ever shown again."""

    iban = serializers.CharField(max_length=42)
    bic = text(11)
    holder = serializers.CharField(max_length=140)

    class Meta:
        example: ClassVar = {"iban": "DE89370400440532013000", "bic": "COBADEFFXXX", "holder": "Supplier GmbH"}

    def validate_iban(self, value: str) -> str:
        """Check length and check digits by the rules of the country. Source: ISO 13616-1."""
        found = iban(value)
        if found is None:
            raise serializers.ValidationError("This is no valid IBAN.", code="invalid_number")
        return found

    def validate_bic(self, value: str | None) -> str:
        """Check the form. Source: ISO 9362."""
        found = bic(value) if value else ""
        if found is None:
            raise serializers.ValidationError("This is no valid BIC.", code="invalid_number")
        return found


class TaxRateIn(WholeEntry):
    """The rate of a category of tax for deliveries to a country, in percent, from a day on."""

    tax_category = serializers.RegexField(r"^[A-Za-z0-9_.-]{1,20}\Z")
    country = CountryField()
    rate = DecimalField(max_digits=7, decimal_places=4, min_value=Decimal(0), max_value=Decimal(100))
    valid_from = DateField()

    class Meta:
        example: ClassVar = {"tax_category": "S", "country": "DE", "rate": "19", "valid_from": "2026-01-01"}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Write rate and day as they are kept."""
        day: date = attrs["valid_from"]
        return {**attrs, "rate": decimal_text(attrs["rate"]), "valid_from": day.isoformat()}


class OrderSettingsIn(WholeEntry):
    """How the supplier takes orders and reservations; what is left out stays as it is."""

    auto_allocate = serializers.BooleanField(required=False)
    max_soft_minutes = serializers.IntegerField(min_value=1, max_value=1440, required=False)
    reservation_cap_percent = serializers.IntegerField(min_value=1, max_value=100, required=False)
    accept_within_hours = serializers.IntegerField(min_value=1, max_value=720, required=False)
    cancel_until = serializers.ChoiceField(choices=("accepted", "shipped"), required=False)
    return_window_days = serializers.IntegerField(min_value=0, max_value=365, required=False)

    class Meta:
        example: ClassVar = {"auto_allocate": True, "max_soft_minutes": 120}


class BuyerGroupIn(WholeEntry):
    """Buyers whom the supplier treats alike: tenants, and organizations with every tenant below them."""

    code = serializers.RegexField(_CODE)
    name = text(120)
    buyer_ids = serializers.ListField(
        child=serializers.UUIDField(), max_length=MOST_BUYERS, required=False, default=list
    )
    organization_ids = serializers.ListField(
        child=serializers.UUIDField(), max_length=MOST_ORGANIZATIONS, required=False, default=list
    )
    reservation_cap_percent = serializers.IntegerField(
        min_value=1, max_value=100, required=False, allow_null=True, default=None
    )

    class Meta:
        example: ClassVar = {"code": "key-accounts", "buyer_ids": [_ID], "reservation_cap_percent": 80}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Name each member once, in the order of their ids."""
        ids = {name: sorted(set(attrs[name])) for name in ("buyer_ids", "organization_ids")}
        return {**attrs, **ids, "name": attrs["name"] or ""}


class SupplierProfileIn(StrictSerializer):
    """A change of the supplier's profile: each member that is named replaces what stands there, lists as a whole."""

    legal_name = serializers.CharField(max_length=255, required=False)
    trade_name = serializers.CharField(max_length=255, required=False, allow_null=True, allow_blank=True)
    country = CountryField(required=False)
    registrations = entries(RegistrationIn(), 50)
    addresses = entries(SupplierAddressIn(), 50)
    contacts = entries(SupplierContactIn(), 50)
    currencies = serializers.ListField(child=CurrencyField(), max_length=200, required=False)
    payment_terms = PaymentTermsIn(required=False, allow_null=True)
    min_order_value = MoneyIn(required=False, allow_null=True)
    ships_to = serializers.ListField(child=CountryField(), max_length=300, required=False)
    categories = serializers.ListField(child=serializers.CharField(max_length=64), max_length=500, required=False)
    licenses = entries(LicenseIn(), 100)
    bank_account = BankAccountIn(required=False, allow_null=True)
    tax_rates = entries(TaxRateIn(), 1_000)
    order_settings = OrderSettingsIn(required=False)
    buyer_groups = entries(BuyerGroupIn(), MOST_GROUPS)

    class Meta:
        example: ClassVar = {
            "legal_name": "Nordic Medical Supplies GmbH",
            "registrations": [RegistrationIn.Meta.example],
            "currencies": ["EUR"],
            "order_settings": OrderSettingsIn.Meta.example,
        }

    def validate_trade_name(self, value: str | None) -> str:
        """Null says that there is none."""
        return value or ""

    def validate_registrations(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Refuse a number that is there twice."""
        refuse_twins(value, ("scheme", "value"), "This registration is there twice.")
        return value

    def validate_currencies(self, value: list[str]) -> list[str]:
        """Name each currency once."""
        return list(dict.fromkeys(value))

    def validate_ships_to(self, value: list[str]) -> list[str]:
        """Name each country once."""
        return sorted(set(value))

    def validate_categories(self, value: list[str]) -> list[str]:
        """Name each category once."""
        return list(dict.fromkeys(value))

    def validate_licenses(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Refuse a licence that is there twice."""
        refuse_twins(value, ("type", "number"), "This licence is there twice.")
        return value

    def validate_tax_rates(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Refuse two rates of a category and country that begin on one day."""
        refuse_twins(value, ("tax_category", "country", "valid_from"), "Another rate begins on this day.")
        return value

    def validate_buyer_groups(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Refuse a code that two groups have."""
        refuse_twins(value, ("code",), "Another group has this code.")
        return value
