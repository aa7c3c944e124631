"""Table of what stock did with the lines of dispensations."""

from django.db import models
from django.db.models import Q

from organizations.public import TenantOwned
from suppliers.inventory.states import BookingStatus, UnbookedReason

_TAKEN = Q(level__isnull=False, movement_id__isnull=False, base_quantity__gte=1)


class DispenseBooking(TenantOwned):
    """What stock did with one line of a dispensation; its `id` is the line's, so that a line is booked once.

    An unbooked line says why; its goods left the shelf all the same. `level` and `movement_id` are what was taken, also after
    the reversal. Personal data: none; `dispensation_id` leads to a patient, for whoever may read the dispensation.
    """

    dispensation_id = models.UUIDField()
    location_id = models.UUIDField()
    system = models.CharField(max_length=255, blank=True, default="")
    code = models.CharField(max_length=100, blank=True, default="")
    lot_number = models.CharField(max_length=50, blank=True, default="")
    quantity = models.CharField(max_length=40)
    unit = models.CharField(max_length=40, blank=True, default="")
    status = models.CharField(max_length=8, choices=BookingStatus)
    reason = models.CharField(max_length=18, choices=UnbookedReason, blank=True, default="")
    level = models.ForeignKey(
        "suppliers.StockLevel",
        on_delete=models.PROTECT,
        related_name="+",
        db_constraint=False,
        db_index=False,
        null=True,
    )
    movement_id = models.UUIDField(null=True)
    base_quantity = models.PositiveBigIntegerField(null=True)

    class Meta:
        verbose_name = "dispensed line"
        constraints = [
            models.CheckConstraint(
                condition=Q(status=BookingStatus.BOOKED, reason="") & _TAKEN
                | Q(status=BookingStatus.UNBOOKED, level__isnull=True, movement_id__isnull=True) & ~Q(reason="")
                | Q(status=BookingStatus.REVERSED),
                name="suppliers_dispensebooking_taken_or_why",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "dispensation_id"], name="suppliers_dispensebooking_of"),
            models.Index(fields=["tenant", "status", "created_at", "id"], name="suppliers_dispensebooking_open"),
        ]

    def __str__(self) -> str:
        return f"{self.quantity} {self.unit} of {self.code}"
