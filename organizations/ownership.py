"""The base class of tenant-owned tables and the queryset by which their rows are read."""

from datetime import datetime
from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import F
from django.db.models.functions import Now

from core.actor import Actor
from core.clock import now
from core.ids import uuid7
from core.row_security import TableSecurity
from core.tenant_rows import TenantRow, TenantRowsQuerySet
from core.versioned import Versioned


class TenantQuerySet(TenantRowsQuerySet[Any]):
    """Queries over tenant-owned rows; `core.tenant_rows` holds their writes to one tenant."""

    def of(self, actor: Actor) -> Self:
        """Keep the rows of the actor's tenant. Every read of the platform starts here."""
        return self.filter(tenant_id=actor.tenant_id)

    def update_versions(self, *, at: datetime, **values: Any) -> int:
        """Change all rows in one statement, raise the version of each, and return their number."""
        return self.update(**values, updated_at=at, version=F("version") + 1)


class TenantOwned(TenantRow, Versioned):
    """Base of every table whose rows belong to one tenant; row security is on by default.

    Personal data: none of its own.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey("organizations.Tenant", on_delete=models.PROTECT, related_name="+", db_index=False)
    created_at = models.DateTimeField(default=now, db_default=Now(), editable=False)

    objects = TenantQuerySet.as_manager()  # type: ignore[misc]  # further methods than those of TenantRow

    security: ClassVar = TableSecurity()

    class Meta:
        abstract = True
