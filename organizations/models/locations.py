"""Locations, where care is given, stock is kept and people work, and the public directory of pharmacies."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from core.clock import now
from core.ids import uuid7
from core.row_security import REFERENCE, Market, TableSecurity
from core.tenant_rows import TenantRow
from organizations.ownership import TenantOwned, TenantQuerySet

MAX_DEPTH = 8


class LocationType(models.TextChoices):
    """The kind of a location: sites of care and of supply in one list."""

    SITE = "site"
    WARD = "ward"
    ROOM = "room"
    PHARMACY = "pharmacy"
    WAREHOUSE = "warehouse"
    ZONE = "zone"
    COLD_ROOM = "cold_room"
    FREEZER = "freezer"
    QUARANTINE = "quarantine"
    BIN = "bin"
    OFFICE = "office"
    VEHICLE = "vehicle"
    VIRTUAL = "virtual"


class LocationStatus(models.TextChoices):
    """Whether a location is in use; an `inactive` location is kept, since other rows refer to it."""

    ACTIVE = "active"
    SUSPENDED = "suspended"
    INACTIVE = "inactive"


class Location(TenantOwned):
    """A location of a tenant; it may be within another location of the same tenant.

    Personal data: none; `contact` has the telephone number and e-mail address of the site, not of a person.
    """

    organization = models.ForeignKey(
        "organizations.Organization", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    parent = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="children", db_constraint=False
    )
    name = models.CharField(max_length=200)
    type = models.CharField(max_length=20, choices=LocationType)
    status = models.CharField(max_length=10, choices=LocationStatus, default=LocationStatus.ACTIVE)
    address = models.JSONField(null=True, blank=True)
    geo = models.JSONField(null=True, blank=True)
    opening_hours = models.JSONField(default=list, blank=True)
    time_zone = models.CharField(max_length=64, blank=True, default="", db_default="", help_text="Blank: the tenant's.")
    contact = models.JSONField(null=True, blank=True)
    identifiers = models.JSONField(default=list, blank=True)
    is_dispensing = models.BooleanField(default=False)
    listed = models.BooleanField(default=False)

    WRITABLE: ClassVar = (
        "organization_id", "parent_id", "name", "type", "status", "address", "geo", "opening_hours", "time_zone",
        "contact", "identifiers", "listed",
    )  # fmt: skip
    security: ClassVar = TableSecurity(market=Market(columns=("tenant_id", "id", "time_zone")))

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(type__in=LocationType.values), name="organizations_location_type_known"),
            models.CheckConstraint(
                condition=Q(status__in=LocationStatus.values), name="organizations_location_status_known"
            ),
            models.CheckConstraint(condition=~Q(parent=F("id")), name="organizations_location_not_in_itself"),
            models.CheckConstraint(
                condition=Q(listed=False) | Q(is_dispensing=True), name="organizations_location_listed_dispenses"
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "created_at", "id"], name="org_location_created"),
            models.Index(fields=["tenant", "updated_at", "id"], name="org_location_updated"),
            models.Index(fields=["tenant", "name", "id"], name="org_location_name"),
            models.Index(fields=["tenant", "parent"], name="org_location_parent"),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.type})"


class LocationWord(TenantRow):
    """One search term of a location. The terms have a table, since under row security LIKE and GIN cannot use an index.

    Personal data: none; words of the names and identifiers of locations.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey("organizations.Tenant", on_delete=models.PROTECT, related_name="+", db_index=False)
    location = models.ForeignKey(Location, on_delete=models.CASCADE, related_name="words", db_constraint=False)
    word = models.CharField(max_length=60, db_collation="C")

    objects = TenantQuerySet.as_manager()  # type: ignore[misc]  # further methods than those of TenantRow

    security: ClassVar = TenantOwned.security

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "word", "location"], name="organizations_location_word")
        ]

    def __str__(self) -> str:
        return self.word


class PharmacyListing(models.Model):
    """A pharmacy in the public directory, which every tenant may search.

    Outside row security on purpose; only `organizations.directory` writes it. Personal data: none.
    """

    id = models.UUIDField(primary_key=True, editable=False, help_text="The id of the location.")
    tenant = models.ForeignKey("organizations.Tenant", on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=200)
    search_text = models.CharField(max_length=200, db_collation="C")
    address = models.JSONField(null=True)
    opening_hours = models.JSONField(default=list)
    created_at = models.DateTimeField(default=now, db_default=Now(), editable=False)
    updated_at = models.DateTimeField(default=now, db_default=Now())

    security: ClassVar = REFERENCE

    class Meta:
        indexes = [
            models.Index(fields=["created_at", "id"], name="org_listing_created"),
            models.Index(fields=["updated_at", "id"], name="org_listing_updated"),
            models.Index(fields=["name", "id"], name="org_listing_name"),
        ]

    def __str__(self) -> str:
        return self.name
