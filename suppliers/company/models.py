"""Tables of the supplier as a company: its profile, its licences, and its groups of buyers."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.db.models.expressions import RawSQL
from django.db.models.functions import Lower
from django_fsm import FSMField

from core.lifecycle import LifecycleModel, transition
from core.row_security import Market, TableSecurity
from core.tenant_rows import TenantRow
from core.text_folding import folded_sql
from organizations.public import TenantOwned

from .states import THRESHOLDS, LicenseType, MemberKind, Qualification

# The words of names and registrations as `core.text_folding` folds them, each behind a blank.
WORDS = folded_sql(
    "legal_name || ' ' || trade_name || ' ' || jsonb_path_query_array(registrations, '$[*].value')::text"
)
_ANY = [one.value for one in Qualification]


class SupplierProfile(TenantOwned, LifecycleModel):
    """What a supplier says of itself; one for each tenant of the kind supplier, none as long as the defaults hold.

    `on_time_rate`, `fill_rate` and `quality_rate` are parts of 1, of the 365 days before the date `rated_until`, in which
    `orders_counted` orders were sent; `suppliers.analytics.rating` writes them once a day.
    `order_settings` holds what differs from the defaults of `company.settings`. `bank_account` is JSON, sealed under the
    tenant's key; `name_sort` and `words` are what buyers sort and search by. `identity_reviewed_at` and `bank_reviewed_at` are empty while staff have not seen what stands there now.
    Personal data: names, e-mail addresses and telephone numbers of contacts; the bank account of a sole trader.
    """

    legal_name = models.CharField(max_length=255, blank=True, default="")
    name_sort = models.GeneratedField(
        expression=Lower("legal_name"), output_field=models.TextField(db_collation="C"), db_persist=True
    )
    trade_name = models.CharField(max_length=255, blank=True, default="")
    country = models.CharField(max_length=2, blank=True, default="")
    registrations = models.JSONField(default=list)
    words = models.GeneratedField(
        expression=RawSQL(WORDS, []),  # noqa: S611  # nosec B611 - a constant without parameters
        output_field=models.TextField(),
        db_persist=True,
    )
    addresses = models.JSONField(default=list)
    contacts = models.JSONField(default=list)
    currencies = models.JSONField(default=list)
    payment_terms = models.JSONField(null=True)
    min_order_value = models.JSONField(null=True)
    ships_to = models.JSONField(default=list)
    categories = models.JSONField(default=list)
    tax_rates = models.JSONField(default=list)
    order_settings = models.JSONField(default=dict)
    bank_account = models.BinaryField(null=True)
    bank_account_last4 = models.CharField(max_length=4, blank=True, default="")
    bank_reviewed_at = models.DateTimeField(null=True)
    identity_reviewed_at = models.DateTimeField(null=True)
    qualification_status = FSMField(
        default=Qualification.REGISTERED.value, choices=Qualification, protected=True, max_length=12
    )
    on_time_rate = models.DecimalField(max_digits=5, decimal_places=4, null=True)
    fill_rate = models.DecimalField(max_digits=5, decimal_places=4, null=True)
    quality_rate = models.DecimalField(max_digits=5, decimal_places=4, null=True)
    orders_counted = models.PositiveIntegerField(default=0, db_default=0)
    rated_until = models.DateField(null=True)

    RATING: ClassVar = ("on_time_rate", "fill_rate", "quality_rate", "orders_counted", "rated_until")
    unversioned: ClassVar = RATING
    WRITABLE: ClassVar = (
        "legal_name", "trade_name", "country", "registrations", "addresses", "contacts", "currencies", "payment_terms",
        "min_order_value", "ships_to", "categories", "tax_rates", "order_settings",
    )  # fmt: skip
    # What buyers read of it, and the settings of its orders that decide what they may reserve.
    PUBLIC: ClassVar = (
        "tenant_id", "legal_name", "trade_name", "country", "registrations", "currencies", "payment_terms",
        "min_order_value", "ships_to", "categories", "order_settings", "qualification_status", "created_at", "updated_at",
        "on_time_rate", "fill_rate", "quality_rate", "orders_counted",
    )  # fmt: skip
    # Tax rates are looked up for a product and a country; no answer shows them whole.
    security: ClassVar = TableSecurity(
        dispatcher=True, market=Market(columns=(*PUBLIC, "tax_rates", "name_sort", "words"))
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant"], name="suppliers_supplierprofile_one"),
            models.CheckConstraint(
                condition=Q(qualification_status__in=Qualification.values),
                name="suppliers_supplierprofile_status_known",
            ),
            models.CheckConstraint(
                condition=Q(bank_account__isnull=True, bank_account_last4="", bank_reviewed_at__isnull=True)
                | Q(bank_account__isnull=False) & ~Q(bank_account_last4=""),
                name="suppliers_supplierprofile_bank",
            ),
            models.CheckConstraint(
                condition=Q(on_time_rate__range=(0, 1)) & Q(fill_rate__range=(0, 1)) & Q(quality_rate__range=(0, 1)),
                name="suppliers_supplierprofile_rates",
            ),
        ]
        # Of all suppliers, for buyers; one without a legal name has that of its tenant.
        indexes = [
            models.Index(fields=["name_sort", "tenant"], condition=~Q(legal_name=""), name="suppliers_profile_by_name"),
            models.Index(fields=["tenant"], condition=Q(legal_name=""), name="suppliers_profile_unnamed"),
            models.Index(fields=["created_at", "tenant"], name="suppliers_profile_by_created"),
        ]

    def __str__(self) -> str:
        return self.legal_name or str(self.tenant_id)

    @transition(
        field=qualification_status,
        source=[Qualification.REGISTERED.value, Qualification.DISQUALIFIED.value],
        target=Qualification.UNDER_REVIEW.value,
    )
    def start_review(self) -> None:
        """Look at what the supplier has handed in."""

    @transition(
        field=qualification_status,
        source=[Qualification.UNDER_REVIEW.value, Qualification.SUSPENDED.value],
        target=Qualification.QUALIFIED.value,
    )
    def qualify(self) -> None:
        """Let the supplier trade, or trade again."""

    @transition(field=qualification_status, source=Qualification.QUALIFIED.value, target=Qualification.SUSPENDED.value)
    def suspend(self) -> None:
        """Hide the supplier's offers and take no new orders for it; what is under way goes on."""

    @transition(
        field=qualification_status,
        source=[one for one in _ANY if one != Qualification.DISQUALIFIED],
        target=Qualification.DISQUALIFIED.value,
    )
    def disqualify(self) -> None:
        """Refuse the supplier until another review."""


class SupplierLicense(TenantOwned):
    """One licence of a supplier. It holds from `valid_from` to the day before `valid_to`, by the date at the supplier.

    `verified_at` is empty while staff have not seen what stands there now. `told_days` is the last threshold before its end
    of which the supplier was told. Personal data: none.
    """

    type = models.CharField(max_length=13, choices=LicenseType)
    number = models.CharField(max_length=80)
    authority = models.CharField(max_length=200, blank=True, default="")
    valid_from = models.DateField(null=True)
    valid_to = models.DateField(null=True)
    file_id = models.UUIDField(null=True)
    position = models.PositiveSmallIntegerField(default=0)
    verified_at = models.DateTimeField(null=True)
    told_days = models.PositiveSmallIntegerField(null=True)

    WRITABLE: ClassVar = ("authority", "valid_from", "valid_to", "file_id")
    PUBLIC: ClassVar = (
        "tenant_id", "type", "number", "authority", "valid_from", "valid_to", "position", "verified_at",
    )  # fmt: skip
    security: ClassVar = TableSecurity(dispatcher=True, market=Market(columns=PUBLIC))

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "type", "number"], name="suppliers_supplierlicense_once"),
            models.CheckConstraint(
                condition=Q(type__in=LicenseType.values), name="suppliers_supplierlicense_type_known"
            ),
            models.CheckConstraint(
                condition=Q(valid_from__isnull=True) | Q(valid_to__isnull=True) | Q(valid_to__gt=F("valid_from")),
                name="suppliers_supplierlicense_validity",
            ),
            models.CheckConstraint(
                condition=Q(told_days__isnull=True) | Q(told_days__in=THRESHOLDS), name="suppliers_supplierlicense_told"
            ),
        ]
        indexes = [
            models.Index(
                fields=["valid_to", "tenant"],
                condition=Q(valid_to__isnull=False) & (Q(told_days__isnull=True) | Q(told_days__gt=0)),
                name="suppliers_license_ending",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.number}"


class BuyerGroup(TenantOwned):
    """Buyers whom a supplier treats alike, named by a code of its own. Personal data: none."""

    code = models.CharField(max_length=64)
    name = models.CharField(max_length=120, blank=True, default="")
    position = models.PositiveSmallIntegerField(default=0)
    reservation_cap_percent = models.PositiveSmallIntegerField(null=True)

    security: ClassVar = TableSecurity(market=Market(columns=("tenant_id", "id", "reservation_cap_percent")))

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "code"], name="suppliers_buyergroup_code_once"),
            models.CheckConstraint(
                condition=Q(reservation_cap_percent__isnull=True) | Q(reservation_cap_percent__range=(1, 100)),
                name="suppliers_buyergroup_cap",
            ),
        ]

    def __str__(self) -> str:
        return self.code


class BuyerGroupMember(TenantRow):
    """One buyer of a group, or one organization whose tenants all belong to it. Personal data: none.

    As the market's role a buyer reads its own rows and those of organizations; which other buyers are in a group it cannot.
    """

    pk = models.CompositePrimaryKey("tenant_id", "member_id", "group_id")
    tenant_id = models.UUIDField()
    member_id = models.UUIDField()
    group_id = models.UUIDField()
    kind = models.CharField(max_length=12, choices=MemberKind)
    is_organization = models.GeneratedField(
        expression=Q(kind=MemberKind.ORGANIZATION.value),  # type: ignore[arg-type]  # a Q is an expression
        output_field=models.BooleanField(),
        db_persist=True,
    )

    security: ClassVar = TableSecurity(
        market=Market(
            when="is_organization", of="member_id", columns=("tenant_id", "member_id", "group_id", "is_organization")
        )
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=MemberKind.values), name="suppliers_buyergroupmember_kind_known"
            )
        ]

    def __str__(self) -> str:
        return str(self.member_id)
