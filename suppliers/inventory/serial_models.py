"""Table of serial numbers."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from organizations.public import TenantOwned

from .refusals import WrongSerial
from .states import SerialStatus

HELD = (SerialStatus.IN_STOCK.value, SerialStatus.ALLOCATED.value)  # units that lie at a level


class Serial(TenantOwned):
    """The serial number of one unit; in stock, `level` says where. Personal data: none."""

    product = models.ForeignKey(
        "suppliers.StockItem", on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    serial_number = models.CharField(max_length=20)
    lot = models.ForeignKey(
        "suppliers.Lot", on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False, null=True
    )
    level = models.ForeignKey(
        "suppliers.StockLevel",
        on_delete=models.PROTECT,
        related_name="+",
        db_constraint=False,
        db_index=False,
        null=True,
    )
    status = models.CharField(max_length=9, choices=SerialStatus, default=SerialStatus.IN_STOCK.value)

    refusals: ClassVar = {"suppliers_serial_once": WrongSerial}

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "product", "serial_number"], name="suppliers_serial_once"),
            models.CheckConstraint(
                condition=Q(status__in=HELD, level__isnull=False) | ~Q(status__in=HELD) & Q(level__isnull=True),
                name="suppliers_serial_lies_somewhere",
            ),
            models.CheckConstraint(condition=Q(status__in=SerialStatus.values), name="suppliers_serial_status_known"),
        ]
        indexes = [
            models.Index(
                fields=["tenant", "level"], condition=Q(level__isnull=False), name="suppliers_serial_of_level"
            ),
            models.Index(fields=["tenant", "serial_number"], name="suppliers_serial_by_number"),
        ]

    def __str__(self) -> str:
        return self.serial_number
