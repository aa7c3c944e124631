"""The SQL of a load: a table's rows compared with those of a file, and the changes that make them equal."""

from dataclasses import dataclass
from functools import cached_property

from django.db import models

from .models import PlatformMedicationWord, TenantMedicationWord
from .tables import Table

MOST_SHOWN = 200  # differences of each kind that are named


@dataclass(frozen=True)
class LoadSql:
    """The statements of one table for the platform's rows, or for those of the tenant `%(tenant)s`.

    `%(load)s` is the id of the load, `%(number)s` the number of the new version, `%(at)s` its time.
    """

    table: Table
    is_tenants: bool

    @cached_property
    def model(self) -> type[models.Model]:
        """The model of the rows."""
        return self.table.tenant if self.is_tenants else self.table.platform

    @cached_property
    def _name(self) -> str:
        return f'"{self.model._meta.db_table}"'

    @cached_property
    def _columns(self) -> tuple[str, ...]:
        return tuple(f'"{name}"' for name in self.table.columns)

    @cached_property
    def _mine(self) -> str:
        return "e.tenant_id = %(tenant)s" if self.is_tenants else "true"

    @cached_property
    def _incoming(self) -> str:
        columns = ", ".join(f"r.{name}" for name in self._columns)
        return (
            f"WITH incoming AS (SELECT n.id AS incoming_id, n.words, {columns} FROM prescriptions_incomingrow n"
            f" CROSS JOIN LATERAL jsonb_populate_record(NULL::{self._name}, n.content) r WHERE n.load_id = %(load)s)"
        )

    @cached_property
    def _same_key(self) -> str:
        return " AND ".join(self._equal(name) for name in self.table.key)

    def _equal(self, name: str) -> str:
        if not self.model._meta.get_field(name).null:
            return f'e."{name}" = i."{name}"'
        return (
            f'coalesce(e."{name}", -1) = coalesce(i."{name}", -1)'  # two unknown bounds are the same; none is negative
        )

    @cached_property
    def _differs(self) -> str:
        ours = ", ".join(f"e.{name}" for name in self._columns)
        theirs = ", ".join(f"i.{name}" for name in self._columns)
        return f"ROW({ours}) IS DISTINCT FROM ROW({theirs})"

    def _label(self, alias: str) -> str:
        return " || ' ' || ".join(self._shown(alias, name) for name in self.table.key)

    def _shown(self, alias: str, name: str) -> str:
        field = self.model._meta.get_field(name)
        column = f'{alias}."{name}"'
        if isinstance(field, models.BooleanField):
            return f"CASE WHEN {column} THEN '{name}' ELSE '-' END"
        return f"coalesce(trim_scale({column})::text, '-')" if field.null else f"coalesce(nullif({column}, ''), '-')"

    @cached_property
    def digest(self) -> str:
        """The number of the rows of the load and a SHA-256 over them, whatever their order in the file."""
        return (
            "SELECT count(*), encode(sha256(convert_to(coalesce(string_agg(n.content::text, chr(10)"
            " ORDER BY n.content::text COLLATE \"C\"), ''), 'UTF8')), 'hex')"
            " FROM prescriptions_incomingrow n WHERE n.load_id = %(load)s"
        )

    @cached_property
    def differences(self) -> str:
        """Rows of kind, key, changed columns and the number of the kind; at most `MOST_SHOWN` of each kind."""
        changed = ", ".join(
            f"CASE WHEN e.{name} IS DISTINCT FROM i.{name} THEN '{plain}' END"
            for name, plain in zip(self._columns, self.table.columns, strict=True)
        )
        return f"""{self._incoming}, existing AS (SELECT e.* FROM {self._name} e WHERE {self._mine}),
found AS (
 SELECT 'added' AS kind, {self._label("i")} AS label, '{{}}'::text[] AS columns FROM incoming i
 WHERE NOT EXISTS (SELECT 1 FROM existing e WHERE {self._same_key})
 UNION ALL SELECT 'changed', {self._label("i")}, array_remove(ARRAY[{changed}], NULL)
 FROM incoming i JOIN existing e ON {self._same_key} WHERE {self._differs}
 UNION ALL SELECT 'removed', {self._label("e")}, '{{}}' FROM existing e
 WHERE NOT EXISTS (SELECT 1 FROM incoming i WHERE {self._same_key})),
counted AS (
 SELECT found.*, count(*) OVER (PARTITION BY kind) AS total,
  row_number() OVER (PARTITION BY kind ORDER BY label) AS place FROM found)
SELECT kind, label, columns, total FROM counted WHERE place <= {MOST_SHOWN} ORDER BY kind, place"""

    @cached_property
    def remove(self) -> str:
        """Delete the rows whose keys the file lacks."""
        return (
            f"{self._incoming} DELETE FROM {self._name} e WHERE {self._mine}"
            f" AND NOT EXISTS (SELECT 1 FROM incoming i WHERE {self._same_key})"
        )

    @cached_property
    def change(self) -> str:
        """Give the rows that differ the file's values, as the next version."""
        columns = ", ".join(f"{name} = i.{name}" for name in (*self._columns, *self._marks))
        return (
            f"{self._incoming_with_marks} UPDATE {self._name} e SET {columns}, version = %(number)s, updated_at = %(at)s"
            f" FROM incoming i WHERE {self._mine} AND {self._same_key} AND ({self._differs}{self._marks_differ})"
        )

    @cached_property
    def add(self) -> str:
        """Insert the rows whose keys are new."""
        tenant, its = ("tenant_id, ", "%(tenant)s, ") if self.is_tenants else ("", "")
        columns = ", ".join((*self._columns, *self._marks))
        theirs = ", ".join(f"i.{name}" for name in (*self._columns, *self._marks))
        return (
            f"{self._incoming_with_marks}, written AS ("
            f"INSERT INTO {self._name} (id, {tenant}{columns}, version, created_at, updated_at)"
            f" SELECT i.incoming_id, {its}{theirs}, %(number)s, %(at)s, %(at)s FROM incoming i"
            f" WHERE NOT EXISTS (SELECT 1 FROM {self._name} e WHERE {self._mine} AND {self._same_key}) RETURNING 1)"
            " SELECT count(*) FROM written"
        )

    @cached_property
    def _marks(self) -> tuple[str, ...]:
        return () if self.is_tenants else ("demonstration",)

    @cached_property
    def _marks_differ(self) -> str:
        return "".join(f" OR e.{name} <> i.{name}" for name in self._marks)

    @cached_property
    def _incoming_with_marks(self) -> str:
        if self.is_tenants:
            return self._incoming
        return self._incoming.replace("n.words,", "n.words, %(demonstration)s::boolean AS demonstration,", 1)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The statements that replace the search terms of the medications that this version changed."""
        posting: type[models.Model] = TenantMedicationWord if self.is_tenants else PlatformMedicationWord
        name = f'"{posting._meta.db_table}"'
        mine = "w.tenant_id = %(tenant)s AND " if self.is_tenants else ""
        tenant, its = ("tenant_id, ", "%(tenant)s, ") if self.is_tenants else ("", "")
        forget = (
            f"DELETE FROM {name} w WHERE {mine}NOT EXISTS (SELECT 1 FROM {self._name} e"
            f" WHERE {self._mine} AND e.id = w.medication_id AND e.version < %(number)s)"
        )
        learn = (
            f"{self._incoming}, written AS (INSERT INTO {name} ({tenant}word, medication_id)"
            f" SELECT DISTINCT {its}word.word, e.id FROM incoming i JOIN {self._name} e ON {self._same_key}"
            f" CROSS JOIN LATERAL unnest(i.words) word(word) WHERE {self._mine} AND e.version = %(number)s RETURNING 1)"
            " SELECT count(*) FROM written"
        )
        return forget, learn
