"""The table of value sets, each with its codes as one document."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from core.row_security import TableSecurity
from organizations.public import TenantOwned

MOST_CODES = 5_000
LONGEST_URL, LONGEST_VERSION, LONGEST_TITLE = 500, 100, 200


class ValueSet(TenantOwned):
    """A value set by its canonical address and version, as the codes that it holds: JSON `{system: [code, …]}`.

    Personal data: none.
    """

    url = models.CharField(max_length=LONGEST_URL, db_collation="C")
    set_version = models.CharField(max_length=LONGEST_VERSION, db_collation="C", default="", db_default="")
    title = models.CharField(max_length=LONGEST_TITLE, default="", db_default="")
    codes = models.TextField()
    count = models.PositiveIntegerField()

    security: ClassVar = TableSecurity()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "url", "set_version"], name="fhir_api_value_set_one"),
            models.CheckConstraint(condition=Q(count__range=(1, MOST_CODES)), name="fhir_api_value_set_bounded"),
        ]

    def __str__(self) -> str:
        return f"{self.url}|{self.set_version}" if self.set_version else self.url
