"""Table of templates of prescriptions."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower

from core.errors import Duplicate
from organizations.public import TenantOwned
from prescriptions.states import Visibility


class TemplateNameTaken(Duplicate):
    """The owner has another template of this name."""

    title = "Another template has this name."


class PrescriptionTemplate(TenantOwned):
    """Items that are prescribed again and again, of one owner, shown to him, to a place or to the tenant.

    `words` are those by which a search finds it. Personal data: none, if its writers keep to what it is for.
    """

    name = models.CharField(max_length=120)
    name_sort = models.GeneratedField(expression=Lower("name"), output_field=models.TextField(), db_persist=True)
    description = models.CharField(max_length=1000, blank=True, default="")
    visibility = models.CharField(max_length=8, choices=Visibility, default=Visibility.PRIVATE)
    location_id = models.UUIDField(null=True)
    specialty = models.CharField(max_length=120, blank=True, default="")
    items = models.JSONField()
    default_notes = models.CharField(max_length=1000, blank=True, default="")
    words = ArrayField(models.TextField(), default=list)
    owner_id = models.UUIDField()
    usage_count = models.PositiveIntegerField(default=0)
    archived_at = models.DateTimeField(null=True)

    WRITABLE: ClassVar = (
        "name", "description", "visibility", "location_id", "specialty", "items", "default_notes",
        "words",
    )  # fmt: skip
    unversioned: ClassVar = ("usage_count",)
    refusals: ClassVar = {"prescriptions_template_name_once": TemplateNameTaken}

    class Meta:
        verbose_name = "template"
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "owner_id", "name"],
                condition=Q(archived_at__isnull=True),
                name="prescriptions_template_name_once",
            ),
            models.CheckConstraint(
                condition=~Q(visibility=Visibility.LOCATION) | Q(location_id__isnull=False),
                name="prescriptions_template_place",
            ),
        ]
        indexes = [
            models.Index(
                fields=["tenant", "created_at", "id"],
                condition=Q(archived_at__isnull=True),
                name="prescriptions_template_created",
            ),
        ]

    def __str__(self) -> str:
        return self.name
