"""The bases of tables that hold what one tenant has received of another tenant's documents."""

from typing import Any, ClassVar, NoReturn

from django.db import models

from core.row_security import TableSecurity
from organizations.ownership import TenantQuerySet


class ReceivedDocument(models.Model):
    """Base of the received copies of one type of document; a row belongs to the tenant that reads it.

    The id is the document's. `version` is the owner's `shared_version`, and `representation` with `lines` is the JSON
    as it is served. `received_at` is the time at which the document was handed over. Only `received.copies` writes these
    rows, from the owner's rows and in the transaction that changes them. A subclass adds the columns by which its lists
    filter and sort. Personal data: what the document tells the other party.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    tenant = models.ForeignKey("organizations.Tenant", on_delete=models.PROTECT, related_name="+", db_index=False)
    owner_tenant_id = models.UUIDField()
    number = models.CharField(max_length=64)
    status = models.CharField(max_length=40)
    version = models.PositiveIntegerField()
    representation = models.JSONField()
    lines = models.JSONField(null=True)
    received_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    objects = TenantQuerySet.as_manager()

    security: ClassVar = TableSecurity()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse: nobody edits a copy.

        :raises TypeError: always.
        """
        raise TypeError("a received copy is written from its owner's rows only")

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse: a copy stays.

        :raises TypeError: always.
        """
        raise TypeError("a received copy stays")


class ReceivedLine(models.Model):
    """Base of an index of the lines of received copies, for lists and jobs that look by product or lot.

    The id is the line's. Each further column has the name of a member of the copy's `lines`, which must hold `id` and
    `line_no`; a member that is not there is null. `counters` are columns that somebody else counts once the row is there.
    Personal data: none.
    """

    counters: ClassVar[tuple[str, ...]] = ()

    id = models.UUIDField(primary_key=True, editable=False)
    tenant = models.ForeignKey("organizations.Tenant", on_delete=models.PROTECT, related_name="+", db_index=False)
    document_id = models.UUIDField()
    line_no = models.PositiveIntegerField()
    product_id = models.UUIDField(null=True)
    lot_id = models.UUIDField(null=True)
    backordered = models.BigIntegerField(null=True)

    objects = TenantQuerySet.as_manager()

    security: ClassVar = TableSecurity()

    class Meta:
        abstract = True
