"""Tables of price agreements: drafts, the buyer's versions with their lines, and the supplier's copies and audience."""

from datetime import datetime
from typing import Any, ClassVar

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import RangeOperators
from django.db import models
from django.db.models import F, Func, Q, Value
from django_fsm import FSMField

from core.errors import Busy
from core.lifecycle import LifecycleModel, transition
from core.row_security import Market, TableSecurity
from core.tenant_rows import TenantRow
from organizations.public import ReceivedDocument, ReceivedKind, ReceivedLine, TenantOwned

from .fields import DUE_ON, PACKAGING, SLOT, SUBJECT, QuantitiesField, generated
from .refusals import AgreementOverlap
from .states import ACCEPTED, AgreementScope, AgreementStatus, Side
from .terms import AgreementTerms, term_checks

_NEVER_ACCEPTED = (AgreementStatus.PROPOSED.value, AgreementStatus.DECLINED.value)


class AgreementDraft(AgreementTerms, TenantOwned):
    """A version of an agreement that its author is writing; it lies in the author's tenant, and the other party knows nothing of it.

    `id` is the id that the version gets, `lines` are as they are answered, without ids. `base_revision` is the accepted
    version that it changes, 0 for a first one. Personal data: none.
    """

    buyer_tenant_id = models.UUIDField()
    number = models.CharField(max_length=64, blank=True, default="")
    base_revision = models.PositiveIntegerField(default=0)
    lines = models.JSONField(default=list)

    WRITABLE: ClassVar = (*AgreementTerms.HEADER, "lines", "lines_total", "categories", "base_revision", "revision")
    refusals: ClassVar = {"suppliers_agreementdraft_one": Busy}  # of two who begin the next version at once

    class Meta:
        verbose_name = "price agreement"
        constraints = [
            models.UniqueConstraint(fields=["tenant", "agreement_id"], name="suppliers_agreementdraft_one"),
            models.CheckConstraint(
                condition=~Q(buyer_tenant_id=F("supplier_tenant_id")), name="suppliers_agreementdraft_two_parties"
            ),
            models.CheckConstraint(
                condition=Q(author=Side.BUYER, tenant=F("buyer_tenant_id"))
                | Q(author=Side.SUPPLIER, tenant=F("supplier_tenant_id")),
                name="suppliers_agreementdraft_of_author",
            ),
            *term_checks("suppliers_agreementdraft"),
        ]
        indexes = [
            models.Index(fields=["tenant", "created_at", "id"], name="suppliers_agreedraft_created"),
            models.Index(fields=["tenant", "updated_at", "id"], name="suppliers_agreedraft_updated"),
        ]

    def __str__(self) -> str:
        return self.title


class PriceAgreement(AgreementTerms, TenantOwned, LifecycleModel):
    """One version of a price agreement, from its proposal on; it belongs to the buyer.

    `number` and `sequence` are those of the agreement, the same for all versions. `scope_id` is the tenant or the
    organization for which it holds. `reason` says why it was declined, suspended or terminated; `ended_at` is the instant
    of its last state. `terminates_on` is the first day on which it does not hold any more. `expiring_at` is when its coming
    end was told, and `due_on` the day on which the sweep has to look at it: 30 days before the end, then the end.
    Personal data: none.
    """

    sequence = models.PositiveIntegerField()
    number = models.CharField(max_length=64)
    scope_id = models.UUIDField()
    status = FSMField(default=AgreementStatus.PROPOSED.value, choices=AgreementStatus, protected=True, max_length=10)
    proposed_at = models.DateTimeField()
    accepted_by_buyer_at = models.DateTimeField(null=True)
    accepted_by_supplier_at = models.DateTimeField(null=True)
    terminates_on = models.DateField(null=True)
    reason = models.CharField(max_length=500, blank=True, default="")
    ended_at = models.DateTimeField(null=True)
    expiring_at = models.DateTimeField(null=True)
    due_on = generated(DUE_ON, models.DateField())
    shared_version = models.PositiveIntegerField(default=1)

    WRITABLE: ClassVar = ("terminates_on", "reason")
    unversioned: ClassVar = ("expiring_at", "due_on")
    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        verbose_name = "price agreement"
        constraints = [
            models.UniqueConstraint(fields=["tenant", "agreement_id", "revision"], name="suppliers_agreement_revision"),
            models.UniqueConstraint(fields=["tenant", "sequence", "revision"], name="suppliers_agreement_number"),
            models.UniqueConstraint(
                fields=["tenant", "agreement_id"],
                condition=Q(status=AgreementStatus.PROPOSED),
                name="suppliers_agreement_one_proposed",
            ),
            models.UniqueConstraint(
                fields=["tenant", "agreement_id"],
                condition=Q(status__in=ACCEPTED),
                name="suppliers_agreement_one_accepted",
            ),
            models.CheckConstraint(
                condition=~Q(supplier_tenant_id=F("tenant_id")), name="suppliers_agreement_two_parties"
            ),
            models.CheckConstraint(
                condition=Q(status__in=AgreementStatus.values), name="suppliers_agreement_status_known"
            ),
            models.CheckConstraint(
                condition=Q(status__in=_NEVER_ACCEPTED) | Q(accepted_by_buyer_at__isnull=False),
                name="suppliers_agreement_accepted",
            ),
            models.CheckConstraint(
                condition=Q(ended_at__isnull=True) ^ ~Q(status__in=[AgreementStatus.PROPOSED.value, *ACCEPTED]),
                name="suppliers_agreement_ended",
            ),
            *term_checks("suppliers_agreement"),
        ]
        indexes = [
            models.Index(fields=["tenant", "created_at", "id"], name="suppliers_agreement_created"),
            models.Index(fields=["tenant", "updated_at", "id"], name="suppliers_agreement_updated"),
            models.Index(fields=["tenant", "status", "created_at", "id"], name="suppliers_agreement_status"),
            models.Index(
                fields=["tenant", "supplier_tenant_id", "created_at", "id"], name="suppliers_agreement_supplier"
            ),
            models.Index(fields=["due_on", "tenant"], condition=Q(status__in=ACCEPTED), name="suppliers_agreement_due"),
        ]

    def __str__(self) -> str:
        return f"{self.number}/{self.revision}"

    @transition(field=status, source=AgreementStatus.PROPOSED.value, target=AgreementStatus.ACTIVE.value)
    def accept(self, at: datetime, *, by: str) -> None:
        """Take a proposal on, as the side that has not made it; "" for a supplier without users."""
        if by:
            setattr(self, f"accepted_by_{by}_at", at)

    @transition(field=status, source=AgreementStatus.PROPOSED.value, target=AgreementStatus.DECLINED.value)
    def decline(self, at: datetime, reason: str) -> None:
        """Refuse a proposal."""
        self.ended_at, self.reason = at, reason

    @transition(field=status, source=list(ACCEPTED), target=AgreementStatus.SUPERSEDED.value)
    def supersede(self, at: datetime) -> None:
        """End the version, because the next one was accepted."""
        self.ended_at = at

    @transition(field=status, source=AgreementStatus.ACTIVE.value, target=AgreementStatus.SUSPENDED.value)
    def suspend(self, reason: str) -> None:
        """Let the prices rest for a while."""
        self.reason = reason

    @transition(field=status, source=AgreementStatus.SUSPENDED.value, target=AgreementStatus.ACTIVE.value)
    def resume(self) -> None:
        """Let the prices hold again."""
        self.reason = ""

    @transition(field=status, source=list(ACCEPTED), target=None)
    def give_notice(self, notice_date: Any, reason: str) -> None:
        """Let the agreement end on a date to come."""
        self.terminates_on, self.reason = notice_date, reason

    @transition(field=status, source=list(ACCEPTED), target=AgreementStatus.TERMINATED.value)
    def terminate(self, at: datetime) -> None:
        """End the agreement, because the date of its notice has come."""
        self.ended_at = at

    @transition(field=status, source=list(ACCEPTED), target=AgreementStatus.EXPIRED.value)
    def expire(self, at: datetime) -> None:
        """End the agreement, because its validity is over."""
        self.ended_at = at


class PriceAgreementLine(TenantOwned):
    """What a version agrees on one product or category; it never changes but for `consumed` and `in_force`.

    `tiers` are `{min_quantity, unit_price}` or `{min_quantity, discount_percent}`, rising; `quantities` are their least
    quantities as ranges. `max_quantity` and `consumed` are in base units. `subject_id` is the product, or the digest of a
    category's code, and `packaging_key` the packaging or zeros. The header's columns are repeated for the exclusion
    constraint, which lets no two lines in force hold for the same goods, buyer, quantity and day. Personal data: none.
    """

    agreement = models.ForeignKey(
        PriceAgreement, on_delete=models.PROTECT, related_name="lines", db_constraint=False, db_index=False
    )
    line_no = models.PositiveIntegerField()
    product_id = models.UUIDField(null=True)
    category = models.CharField(max_length=64, null=True)  # null as the copy's line has it
    packaging_id = models.UUIDField(null=True)
    price_base_quantity = models.PositiveIntegerField(default=1)
    tiers = models.JSONField()
    max_quantity = models.BigIntegerField(null=True)
    consumed = models.BigIntegerField(default=0, db_default=0)
    min_remaining_shelf_life_days = models.IntegerField(null=True)
    lead_time_days = models.PositiveIntegerField(null=True)
    in_force = models.BooleanField(default=False, db_default=False)
    scope_id = models.UUIDField()
    group_code = models.CharField(max_length=64, blank=True, default="")
    supplier_tenant_id = models.UUIDField()
    currency = models.CharField(max_length=3)
    valid_from = models.DateField()
    valid_to = models.DateField()
    quantities = QuantitiesField()
    subject_id = generated(SUBJECT, models.UUIDField())
    packaging_key = generated(PACKAGING, models.UUIDField())
    slot = generated(SLOT, models.UUIDField())

    unversioned: ClassVar = ("consumed", "in_force", "valid_to")
    refusals: ClassVar = {"suppliers_agreementline_no_overlap": AgreementOverlap}

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "agreement", "line_no"], name="suppliers_agreementline_number"),
            ExclusionConstraint(
                name="suppliers_agreementline_no_overlap",
                expressions=[
                    (
                        Func("slot", "slot", Value("[]"), function="uuidrange", output_field=models.TextField()),
                        RangeOperators.OVERLAPS,
                    ),
                    ("quantities", RangeOperators.OVERLAPS),
                    (
                        Func("valid_from", "valid_to", function="daterange", output_field=models.TextField()),
                        RangeOperators.OVERLAPS,
                    ),
                ],
                condition=Q(in_force=True),
            ),
            models.CheckConstraint(
                condition=Q(product_id__isnull=False, category__isnull=True)
                | Q(product_id__isnull=True, category__isnull=False, packaging_id__isnull=True),
                name="suppliers_agreementline_subject",
            ),
            models.CheckConstraint(
                condition=Q(price_base_quantity__gte=1)
                & ~Q(tiers=[])
                & (Q(min_remaining_shelf_life_days__isnull=True) | Q(min_remaining_shelf_life_days__gte=0)),
                name="suppliers_agreementline_amounts",
            ),
            models.CheckConstraint(
                condition=Q(consumed__gte=0)
                & (Q(max_quantity__isnull=True) | Q(max_quantity__gte=1, consumed__lte=F("max_quantity"))),
                name="suppliers_agreementline_cap",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "slot"], condition=Q(in_force=True), name="suppliers_agreementline_slot"),
        ]

    def __str__(self) -> str:
        return str(self.line_no)


class ReceivedAgreement(ReceivedDocument):
    """A version of an agreement as its supplier reads it; the lines stand in rows of their own.

    `valid_to` is the first day on which it does not hold any more, by its notice too. Personal data: none.
    """

    agreement_id = models.UUIDField()
    revision = models.PositiveIntegerField()
    currency = models.CharField(max_length=3)
    priority = models.PositiveIntegerField()
    valid_from = models.DateField()
    valid_to = models.DateField()
    scope = models.CharField(max_length=12, choices=AgreementScope)
    scope_id = models.UUIDField()
    group_code = models.CharField(max_length=64, blank=True, default="")
    in_force = models.GeneratedField(
        expression=Q(status=AgreementStatus.ACTIVE.value),  # type: ignore[arg-type]  # a Q is an expression
        output_field=models.BooleanField(),
        db_persist=True,
    )

    # Of the document itself the market reads nothing: what counts for prices stands in columns.
    security: ClassVar = TableSecurity(
        dispatcher=True,
        market=Market(
            when="in_force",
            columns=(
                "id", "tenant_id", "owner_tenant_id", "agreement_id", "revision", "number", "status", "version", "currency",
                "priority", "valid_from", "valid_to", "scope", "in_force", "updated_at",
            ),
        )
    )  # fmt: skip

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "received_at", "id"], name="suppliers_recagree_by_time"),
            models.Index(fields=["tenant", "updated_at", "id"], name="suppliers_recagree_by_updated"),
            models.Index(fields=["tenant", "status", "received_at", "id"], name="suppliers_recagree_by_status"),
            models.Index(fields=["tenant", "owner_tenant_id", "received_at", "id"], name="suppliers_recagree_by_owner"),
            models.Index(fields=["tenant", "agreement_id"], name="suppliers_recagree_agreement"),
            models.Index(
                fields=["scope_id"],
                condition=Q(scope=AgreementScope.ORGANIZATION, status__in=ACCEPTED),
                name="suppliers_recagree_of_org",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.number}/{self.revision}"


class ReceivedAgreementLine(ReceivedLine):
    """A line of a supplier's copy; `consumed` is kept by whoever counts the owner's. Personal data: none."""

    lot_id = None  # a line of prices has no lot
    backordered = None
    category = models.CharField(max_length=64, null=True)  # a member that is not there is null
    packaging_id = models.UUIDField(null=True)
    price_base_quantity = models.IntegerField(default=1)
    tiers = models.JSONField()
    max_quantity = models.BigIntegerField(null=True)
    consumed = models.BigIntegerField(default=0)
    min_remaining_shelf_life_days = models.IntegerField(null=True)
    lead_time_days = models.PositiveIntegerField(null=True)

    counters: ClassVar = ("consumed",)
    security: ClassVar = TableSecurity(market=Market())

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "document_id", "line_no"], name="suppliers_recagreeline_number"),
            models.Index(fields=["tenant", "document_id", "product_id"], name="suppliers_recagreeline_product"),
            models.Index(
                fields=["tenant", "document_id", "category"],
                condition=Q(category__isnull=False),
                name="suppliers_recagreeline_categ",
            ),
            models.Index(fields=["tenant", "product_id", "document_id"], name="suppliers_recagreeline_of_prod"),
        ]

    def __str__(self) -> str:
        return str(self.line_no)


class AgreementAudience(TenantRow):
    """One buyer for whom a version in force holds; `agreement_id` is the id of the supplier's copy.

    `distance` is 0 where the agreement is for this very tenant, 1 where it is for the tenant's own organization, 2 for the
    one above that, and so on. Personal data: none.
    """

    pk = models.CompositePrimaryKey("tenant_id", "agreement_id", "member_tenant_id")
    tenant_id = models.UUIDField()
    agreement_id = models.UUIDField()
    member_tenant_id = models.UUIDField()
    distance = models.PositiveSmallIntegerField()

    security: ClassVar = TableSecurity(market=Market(of="member_tenant_id"))

    class Meta:
        indexes = [
            models.Index(
                fields=["member_tenant_id", "tenant_id", "agreement_id"], name="suppliers_agreeaudience_member"
            )
        ]

    def __str__(self) -> str:
        return str(self.member_tenant_id)


AGREEMENTS = ReceivedKind(
    document=PriceAgreement,
    copy=ReceivedAgreement,
    party="t.supplier_tenant_id",
    handed_over="n.managed_by_id IS NULL",  # nobody reads the copies of a managed supplier
    lines="lines",
    line=ReceivedAgreementLine,
    lines_apart=True,
    columns={
        name: f"t.{name}"
        for name in (
            "agreement_id", "revision", "currency", "priority", "valid_from", "scope", "scope_id", "group_code",
        )
    }
    | {"valid_to": "least(t.valid_to, t.terminates_on)"},
)  # fmt: skip
