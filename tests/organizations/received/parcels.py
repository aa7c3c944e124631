"""A document of two parties of the tests' own: a parcel belongs to its sender, and its carrier holds a received copy."""

from dataclasses import dataclass
from typing import ClassVar

from django.db import models
from django_fsm import FSMField
from rest_framework import serializers

from api.listing import representation
from api.received_copies import received
from api.representations import Representation
from api.serializers import StrictSerializer
from core import rows
from core.actor import system_actor
from core.db import needs_transaction
from core.ids import uuid7
from core.lifecycle import LifecycleModel, transition
from core.model_rows import save_call
from ledger import public as ledger
from organizations import public as organizations
from organizations.public import ReceivedKind

LABEL = "tests_parcels"


class Parcel(LifecycleModel, organizations.TenantOwned):
    """A parcel of its sender. Personal data: none."""

    number = models.CharField(max_length=40)
    status = FSMField(default="draft", protected=True, max_length=20)
    carrier_tenant_id = models.UUIDField()
    note = models.CharField(max_length=200, blank=True, default="")
    internal_note = models.CharField(max_length=200, blank=True, default="")
    price = models.DecimalField(max_digits=10, decimal_places=2, default=0)
    labels = models.JSONField(default=list)
    weighed = models.IntegerField(default=0)
    sent_at = models.DateTimeField(null=True)
    shared_version = models.PositiveIntegerField(default=1)

    class Meta:
        app_label = LABEL
        verbose_name = "parcel"

    @transition(field=status, source="draft", target="sent")
    def send(self, at):
        """Hand the parcel over."""
        self.sent_at = at

    @transition(field=status, source="sent", target="accepted")
    def accept(self):
        """Take the parcel over."""

    @transition(field=status, source="accepted", target="delivered")
    def deliver(self):
        """Hand the parcel in."""

    @transition(field=status, source="delivered", target="filed")
    def file(self):
        """Put the parcel on file."""


class ParcelLine(organizations.TenantOwned):
    """What is in a parcel. Personal data: none."""

    parcel = models.ForeignKey(Parcel, on_delete=models.PROTECT, related_name="lines", db_constraint=False)
    line_no = models.IntegerField()
    product_id = models.UUIDField(default=uuid7)
    sku = models.CharField(max_length=40)
    quantity = models.IntegerField()

    class Meta:
        app_label = LABEL


class ReceivedParcel(organizations.ReceivedDocument):
    """A parcel as its carrier has received it. Personal data: none."""

    weighed = models.IntegerField()

    class Meta:
        app_label = LABEL


class ReceivedParcelLine(organizations.ReceivedLine):
    """The index of what is in a received parcel. Personal data: none."""

    sku = models.CharField(max_length=40)

    class Meta:
        app_label = LABEL


class ParcelLineOut(Representation):
    class Meta:
        model = ParcelLine
        fields = ("id", "line_no", "product_id", "sku", "quantity")


class ParcelOut(Representation):
    """A parcel as its sender sees it."""

    lines = ParcelLineOut(many=True, by="parcel", ordering=("line_no", "id"))

    class Meta:
        model = Parcel
        fields = (
            "id", "number", "status", "note", "internal_note", "price", "labels", "weighed", "sent_at", "lines", "version",
        )  # fmt: skip


class ParcelForCarrierOut(Representation):
    """A parcel as its carrier may see it."""

    lines = ParcelLineOut(many=True, by="parcel", ordering=("line_no", "id"))

    class Meta:
        model = Parcel
        fields = ("id", "number", "status", "note", "price", "labels", "weighed", "sent_at", "lines")


ReceivedParcelOut = received("ReceivedParcelOut", ParcelForCarrierOut, ReceivedParcel, lines="lines")

PARCELS = ReceivedKind(
    document=Parcel,
    copy=ReceivedParcel,
    party="t.carrier_tenant_id",
    handed_over="t.sent_at IS NOT NULL",
    lines="lines",
    line=ReceivedParcelLine,
    columns={"weighed": "t.weighed"},
)


def know_parcels() -> None:
    """Register the document, as an app's `ready()` does."""
    organizations.register_received(PARCELS, representation=representation(ParcelForCarrierOut.shape))


@ledger.register
@dataclass(frozen=True)
class ParcelSent(ledger.EventType):
    """A parcel was handed to its carrier."""

    type: ClassVar[str] = "test_parcel.sent"
    resource: ClassVar[str] = "test_parcel"
    figures: ClassVar = ("price",)
    number: str
    by: str
    price: str = "0"


@ledger.register
@dataclass(frozen=True)
class ParcelAccepted(ledger.EventType):
    """The carrier took a parcel over."""

    type: ClassVar[str] = "test_parcel.accepted"
    resource: ClassVar[str] = "test_parcel"
    by: str = "carrier"


@ledger.register
@dataclass(frozen=True)
class ParcelDelivered(ledger.EventType):
    """The carrier handed a parcel in."""

    type: ClassVar[str] = "test_parcel.delivered"
    resource: ClassVar[str] = "test_parcel"
    by: str = "carrier"


@ledger.register
@dataclass(frozen=True)
class ParcelFiled(ledger.EventType):
    """A delivered parcel was filed, which follows at once."""

    type: ClassVar[str] = "test_parcel.filed"
    resource: ClassVar[str] = "test_parcel"
    by: str = "system"


@ledger.register
@dataclass(frozen=True)
class ParcelWeighed(ledger.EventType):
    """Either party put a parcel on the scales."""

    type: ClassVar[str] = "test_parcel.weighed"
    resource: ClassVar[str] = "test_parcel"
    by: str
    times: int


@ledger.register
@dataclass(frozen=True)
class ParcelNoted(ledger.EventType):
    """The sender noted something that is nobody else's business."""

    type: ClassVar[str] = "test_parcel.noted"
    resource: ClassVar[str] = "test_parcel"
    times: int = 1


class LineIn(StrictSerializer):
    sku = serializers.CharField(max_length=40)
    quantity = serializers.IntegerField()


class ParcelIn(StrictSerializer):
    number = serializers.CharField(max_length=40)
    carrier_id = serializers.UUIDField()
    note = serializers.CharField(required=False, default="")
    internal_note = serializers.CharField(required=False, default="")
    lines = LineIn(many=True, required=False, default=list)


class LinesIn(StrictSerializer):
    lines = LineIn(many=True)


class NoteIn(StrictSerializer):
    text = serializers.CharField(max_length=200)


@needs_transaction
def create_parcel(actor, data, at):
    """Draft a parcel: nobody else knows of it."""
    parcel = Parcel(
        tenant_id=actor.tenant_id, number=data["number"], carrier_tenant_id=data["carrier_id"], note=data["note"],
        internal_note=data["internal_note"], price="12.50", labels=["fragile", {"side": "up"}], created_at=at,
        updated_at=at,
    )  # fmt: skip
    parcel.save(force_insert=True)
    for line_no, line in enumerate(data["lines"], 1):
        ParcelLine.objects.create(tenant_id=actor.tenant_id, parcel=parcel, line_no=line_no, **line)
    return parcel


@needs_transaction
def repack_parcel(actor, parcel, data, at, reading=None):
    """Take the first line out, change the second, and add those of the body."""
    row = parcel.row
    first, second = ParcelLine.objects.of(parcel.owner).filter(parcel=row).order_by("line_no")[:2]
    first.delete()
    second.sku = "changed"
    more = [
        ParcelLine(tenant_id=row.tenant_id, parcel_id=row.id, line_no=line_no, created_at=at, updated_at=at, **line)
        for line_no, line in enumerate(data["lines"], 10)
    ]
    changed = [save_call(second, "sku", at=at), *map(rows.insert, more)]
    parcel.write([*changed, save_call(row, at=at, versions=parcel.versions)], told={}, at=at, reading=reading)
    return row


@needs_transaction
def send_parcel(actor, parcel, at, reading=None):
    """Hand a parcel to its carrier."""
    row = parcel.row
    row.send(at)
    fact = ParcelSent(number=row.number, by="sender", price=str(row.price))
    parcel.write(
        [save_call(row, "status", "sent_at", at=at, versions=parcel.versions)],
        told=parcel.told(owner=[fact], other=[fact], handed_to=row.carrier_tenant_id),
        at=at,
        reading=reading,
    )
    return row


@needs_transaction
def accept_parcel(actor, parcel, at, reading=None):
    """Take a parcel over, as its carrier."""
    parcel.row.accept()
    parcel.write(
        [save_call(parcel.row, "status", at=at, versions=parcel.versions)],
        told=parcel.told(owner=[ParcelAccepted()], other=[ParcelAccepted()]),
        at=at,
        reading=reading,
    )
    return parcel.row


@needs_transaction
def deliver_parcel(actor, parcel, at, reading=None):
    """Hand a parcel in, as its carrier; the platform files it at once."""
    parcel.row.deliver()
    parcel.write(
        [save_call(parcel.row, "status", at=at, versions=parcel.versions)],
        told=parcel.told(owner=[ParcelDelivered()], other=[ParcelDelivered()]),
        at=at,
        reading=reading,
    )
    return parcel.row


def file_parcels(facts):
    """File what was delivered, in its sender's tenant: the reaction to `test_parcel.delivered`."""
    for fact in facts:
        row = Parcel.objects.filter(tenant_id=fact.tenant_id, pk=fact.resource_id).first()
        if row is None:  # the carrier's fact
            continue
        row.file()
        changed = save_call(row, "status", at=fact.occurred_at, versions=("version", "shared_version"))
        told = {
            row.tenant_id: [ledger.Occurrence(ParcelFiled(), row.id, row.version)],
            row.carrier_tenant_id: [ledger.Occurrence(ParcelFiled(), row.id, row.shared_version)],
        }
        platform = system_actor(row.tenant_id)
        organizations.write_documents(
            platform, row.tenant_id, [(PARCELS, row.id)], [changed], told=told, at=fact.occurred_at
        )


ledger.react(["test_parcel.delivered"], file_parcels)


@needs_transaction
def weigh_parcel(actor, parcel, at, reading=None):
    """Put a parcel on the scales, as either party."""
    parcel.row.weighed += 1
    fact = ParcelWeighed(by="sender" if parcel.is_owner else "carrier", times=parcel.row.weighed)
    parcel.write(
        [save_call(parcel.row, "weighed", at=at, versions=parcel.versions)],
        told=parcel.told(owner=[fact], other=[fact]),
        at=at,
        reading=reading,
    )
    return parcel.row


@needs_transaction
def note_parcel(actor, parcel, data, at, reading=None):
    """Note something that the carrier does not see."""
    parcel.row.internal_note = data["text"]
    parcel.write(
        [save_call(parcel.row, "internal_note", at=at)],
        told=parcel.told(owner=[ParcelNoted()]),
        at=at,
        reading=reading,
        is_answered_first=True,
    )
    return parcel.row
