"""The tables of the search terms of documents, and of how many orders a supplier has received."""

from typing import ClassVar

from django.db import models

from core.row_security import TableSecurity
from core.tenant_rows import TenantRow

from .states import DocumentKind


class DocumentWord(TenantRow):
    """A search term of a document as the tenant reads it, beside who the other party is.

    The primary key alone answers a search; a GIN index could not under row security. Triggers of the documents' tables keep the
    terms, each from the columns of the reader's own row, so that nothing which only the other party reads is among them. Words
    are compared byte by byte (collation C), so that a prefix is a range of the key. Personal data: none.
    """

    pk = models.CompositePrimaryKey("tenant_id", "kind", "word", "document_id")
    tenant_id = models.UUIDField()
    kind = models.CharField(max_length=14, choices=DocumentKind)
    word = models.CharField(max_length=64, db_collation="C")
    document_id = models.UUIDField()
    party_id = models.UUIDField()

    security: ClassVar = TableSecurity()

    class Meta:
        indexes = [models.Index(fields=["tenant_id", "kind", "document_id"], name="suppliers_documentword_of")]

    def __str__(self) -> str:
        return self.word


class ReceivedOrderCounter(TenantRow):
    """How many orders a supplier has received: the total of its list. A trigger counts each copy that is made; none is deleted.

    Personal data: none.
    """

    tenant_id = models.UUIDField(primary_key=True)
    orders = models.PositiveBigIntegerField()

    security: ClassVar = TableSecurity()

    def __str__(self) -> str:
        return f"{self.orders} orders"
