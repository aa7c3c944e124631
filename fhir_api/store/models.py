"""Tables of the store: resources as the bytes that are answered, their past, and what they are found by.

Keys begin with the tenant and are B-trees only: nothing else is used under row security. What a resource is found by is
made from its body (`indexing`), so the tables of entries hold no id of their own and no index by resource.
"""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from core.row_security import TableSecurity
from core.tenant_rows import TenantRow


class Method(models.IntegerChoices):
    """How a version came about; `history` tells it as the request's method."""

    POST = 1
    PUT = 2
    PATCH = 3
    DELETE = 4


class Resource(TenantRow):
    """The current version of a resource; `body` is what a read answers, byte for byte. A deleted one has none.

    `target_key` is the hash of `Type/id` by which references find it. `sort_date` is the clinical date (or the creation's)
    that orders search results. `parameters` are the numbers of the search parameters that have a value.
    Personal data: `body` holds what is known of a patient (phi).
    """

    id = models.BigAutoField(primary_key=True)
    tenant_id = models.UUIDField()
    type = models.PositiveSmallIntegerField()
    fhir_id = models.CharField(max_length=64, db_collation="C")
    version = models.PositiveIntegerField()
    last_updated = models.DateTimeField()
    method = models.PositiveSmallIntegerField(choices=Method)
    deleted = models.BooleanField(default=False, db_default=False)
    sort_date = models.DateTimeField()
    target_key = models.BigIntegerField()
    parameters = models.TextField(default="", db_default="")  # " 12 40 …": array operators are not leakproof
    body = models.TextField(null=True)

    security: ClassVar = TableSecurity()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant_id", "type", "fhir_id"], name="fhir_api_resource_one"),
            models.CheckConstraint(condition=Q(type__gte=1), name="fhir_api_resource_type_known"),
            models.CheckConstraint(
                condition=Q(deleted=True, body__isnull=True, method=Method.DELETE)
                | Q(deleted=False, body__isnull=False) & ~Q(method=Method.DELETE),
                name="fhir_api_resource_deleted_is_empty",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant_id", "type", "last_updated", "id"], name="fhir_api_resource_by_change"),
            models.Index(fields=["tenant_id", "type", "sort_date", "id"], name="fhir_api_resource_by_date"),
            models.Index(fields=["tenant_id", "last_updated", "id"], name="fhir_api_resource_of_tenant"),
            models.Index(fields=["tenant_id", "target_key"], name="fhir_api_resource_target"),
            models.Index(
                fields=["tenant_id", "type", "fhir_id"], condition=Q(deleted=True), name="fhir_api_resource_gone"
            ),
        ]

    def __str__(self) -> str:
        return f"resource {self.id}"


class ResourceVersion(TenantRow):
    """A superseded version; creating a resource writes none. Never updated; a deletion that was undone has no body.

    Personal data: as `Resource`.
    """

    pk = models.CompositePrimaryKey("tenant_id", "type", "fhir_id", "version")
    tenant_id = models.UUIDField()
    type = models.PositiveSmallIntegerField()
    fhir_id = models.CharField(max_length=64, db_collation="C")
    version = models.PositiveIntegerField()
    last_updated = models.DateTimeField()
    method = models.PositiveSmallIntegerField(choices=Method)
    body = models.TextField(null=True)

    security: ClassVar = TableSecurity(append_only=True)

    class Meta:
        indexes = [
            models.Index(fields=["tenant_id", "type", "last_updated"], name="fhir_api_version_by_change"),
            models.Index(fields=["tenant_id", "last_updated"], name="fhir_api_version_of_tenant"),
        ]

    def __str__(self) -> str:
        return f"version {self.version} of {self.fhir_id}"


class Entry(TenantRow):
    """Base of what resources are found by: whose it is, and which resource (its row) it leads to."""

    tenant_id = models.UUIDField()
    resource_id = models.BigIntegerField()

    security: ClassVar = TableSecurity()

    class Meta:
        abstract = True


class Posting(Entry):
    """A token, reference or URI by which a resource is found: `key` is a hash of parameter and value (`keys`).

    The date stands inside the key, so that the newest of a value come first and a page reads no more than its rows.
    Personal data: hashes of it.
    """

    pk = models.CompositePrimaryKey("tenant_id", "key", "sort_date", "resource_id")
    key = models.BigIntegerField()
    sort_date = models.DateTimeField()

    def __str__(self) -> str:
        return f"posting {self.key}"


class DateEntry(Entry):
    """A span of time by which a resource is found: from `low` until before `high`; an open end is infinity.

    The second index answers for one resource: as a further condition of a search, and to sort by.

    Personal data: dates of a patient's life, without his name.
    """

    pk = models.CompositePrimaryKey("tenant_id", "key", "low", "high", "resource_id")
    key = models.BigIntegerField()
    low = models.DateTimeField()
    high = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["tenant_id", "resource_id", "key", "low", "high"], name="fhir_api_date_of_one")]

    def __str__(self) -> str:
        return f"date {self.key}"


class StringEntry(Entry):
    """A text by which a resource is found, without case and accents (`keys.normal`); compared byte by byte.

    Personal data: names and addresses.
    """

    pk = models.CompositePrimaryKey("tenant_id", "key", "value", "resource_id")
    key = models.BigIntegerField()
    value = models.CharField(max_length=300, db_collation="C")

    class Meta:
        indexes = [models.Index(fields=["tenant_id", "resource_id", "key", "value"], name="fhir_api_string_of_one")]

    def __str__(self) -> str:
        return f"string {self.key}"


class QuantityEntry(Entry):
    """A number by which a resource is found; the unit is part of `key`, once as `system|code`, as code, and left out.

    Personal data: measured values, without a name.
    """

    pk = models.CompositePrimaryKey("tenant_id", "key", "value", "resource_id")
    key = models.BigIntegerField()
    value = models.FloatField()

    class Meta:
        indexes = [models.Index(fields=["tenant_id", "resource_id", "key", "value"], name="fhir_api_quantity_of_one")]

    def __str__(self) -> str:
        return f"quantity {self.key}"


class PositionEntry(Entry):
    """Where a Location lies, in degrees (WGS 84), for `near`.

    Personal data: none.
    """

    pk = models.CompositePrimaryKey("tenant_id", "latitude", "longitude", "resource_id")
    latitude = models.FloatField()
    longitude = models.FloatField()

    def __str__(self) -> str:
        return f"position of {self.resource_id}"
