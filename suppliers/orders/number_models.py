"""The table of the numbers of documents."""

from typing import ClassVar

from django.db import models

from core.errors import Busy
from core.row_security import TableSecurity
from core.tenant_rows import TenantRow

from .states import DocumentKind


class DocumentNumber(TenantRow):
    """A number of a document, claimed in the tenant whose number it is, once for each document. Personal data: none."""

    pk = models.CompositePrimaryKey("tenant_id", "kind", "number")
    tenant_id = models.UUIDField()
    kind = models.CharField(max_length=14, choices=DocumentKind)
    number = models.CharField(max_length=64)
    sequence = models.PositiveBigIntegerField()
    document_id = models.UUIDField()

    refusals: ClassVar = {"suppliers_documentnumber_document": Busy}
    security: ClassVar = TableSecurity()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant_id", "kind", "sequence"], name="suppliers_documentnumber_sequence"),
            models.UniqueConstraint(
                fields=["tenant_id", "kind", "document_id"], name="suppliers_documentnumber_document"
            ),
        ]

    def __str__(self) -> str:
        return self.number
