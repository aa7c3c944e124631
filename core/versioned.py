"""Rows with a version: each change makes the next one, so that no caller overwrites a change that they have not read.

A model names the columns that callers may write, and an action saves the next version:

    class Shelf(Versioned):
        WRITABLE: ClassVar = ("name",)

    changed = shelf.assign({"name": "B4"})  # ["name"], or [] if the name is unchanged
    shelf.save_version(*changed, at=at)
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from django.db import models
from django.db.models.functions import Now

from core.clock import now


class Versioned(models.Model):
    """Base of models whose rows have a version.

    `WRITABLE` names the columns that callers set. `unversioned` names the columns whose change makes no new version,
    because no caller writes them: times of use, progress of work, copies of other rows. The tests check every UPDATE.
    Personal data: none of its own.
    """

    updated_at = models.DateTimeField(default=now, db_default=Now())
    version = models.PositiveIntegerField(default=1, db_default=1)

    WRITABLE: ClassVar[tuple[str, ...]] = ()
    unversioned: ClassVar[tuple[str, ...]] = ()

    class Meta:
        abstract = True

    def assign(self, values: Mapping[str, Any]) -> list[str]:
        """Set columns that callers may write, and return the names of those that changed.

        :raises ValueError: a name is not in `WRITABLE`; a programming error.
        """
        unknown = [name for name in values if name not in self.WRITABLE]
        if unknown:
            raise ValueError(f"not writable in {type(self).__name__}: {', '.join(unknown)}")
        changed = [name for name, value in values.items() if getattr(self, name) != value]
        for name in changed:
            setattr(self, name, values[name])
        return changed

    def save_version(self, *names: str, at: datetime) -> None:
        """Save the named columns of an existing, locked row as its next version."""
        self.version += 1
        self.updated_at = at
        self.save(update_fields=[*names, "version", "updated_at"])
