"""Shapes of answers: each gives the SQL that builds the JSON, and reads the parameters `fields` and `include`.

PostgreSQL writes the JSON, so a list costs no object per row. In every expression `t` is the table's row.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from django.db import models

from core.errors import Malformed

Schema = dict[str, Any]

INSTANT = "to_char({0} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"


class UnknownField(Malformed):
    """`fields` names a field that the resource does not have."""

    code = "unknown_field"
    title = "The resource has no such field."
    extensions = {"allowed": ["id", "name"]}


class UnknownInclude(Malformed):
    """`include` names something that cannot be included."""

    code = "unknown_include"
    title = "This cannot be included."
    extensions = {"allowed": ["prices", "stock"]}


@dataclass(frozen=True, slots=True)
class Field:
    """One member of the JSON object: its name, the SQL expression behind it, its OpenAPI schema."""

    name: str
    sql: str
    schema: Schema = field(default_factory=dict)

    def described(self, text: str) -> "Field":
        """The same field with a description for the documentation."""
        return replace(self, schema={**self.schema, "description": text})

    def nullable(self) -> "Field":
        """The same field, which may be null."""
        kind = self.schema.get("type")
        return replace(self, schema={**self.schema, "type": [kind, "null"]} if isinstance(kind, str) else self.schema)


def _column(name: str, column: str | None) -> str:
    return f't."{column or name}"'


def uuid(name: str, column: str | None = None) -> Field:
    """A UUID column."""
    return Field(name, _column(name, column), {"type": "string", "format": "uuid"})


def text(name: str, column: str | None = None) -> Field:
    """A text column."""
    return Field(name, _column(name, column), {"type": "string"})


def choice(name: str, values: Sequence[str], column: str | None = None) -> Field:
    """A text column out of a list that may grow. Source: contract, conventions "Enums"."""
    return Field(name, _column(name, column), {"type": "string", "x-extensible-enum": list(values)})


def integer(name: str, column: str | None = None) -> Field:
    """An integer column."""
    return Field(name, _column(name, column), {"type": "integer"})


def boolean(name: str, column: str | None = None) -> Field:
    """A boolean column."""
    return Field(name, _column(name, column), {"type": "boolean"})


def decimal(name: str, column: str | None = None) -> Field:
    """A numeric column, written as a decimal string."""
    return Field(name, _column(name, column) + "::text", {"type": "string", "format": "decimal"})


def instant(name: str, column: str | None = None) -> Field:
    """A timestamptz column: RFC 3339, UTC, three decimals."""
    return Field(name, INSTANT.format(_column(name, column)), {"type": "string", "format": "date-time"})


def day(name: str, column: str | None = None) -> Field:
    """A date column, YYYY-MM-DD."""
    return Field(name, _column(name, column), {"type": "string", "format": "date"})


def strings(name: str, column: str | None = None) -> Field:
    """A text[] column."""
    return Field(name, _column(name, column), {"type": "array", "items": {"type": "string"}})


def document(name: str, schema: Schema | None = None, column: str | None = None) -> Field:
    """A jsonb column, as it is."""
    return Field(name, _column(name, column), schema or {"type": "object"})


def computed(name: str, sql: str, schema: Schema) -> Field:
    """Any SQL expression over `t`, e.g. a correlated sub-select that builds JSON."""
    return Field(name, f"({sql})", schema)


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A resource's JSON: its table, its fields, and the members that may be included.

    `tenant_column` None marks a global table; `key` is the column of the path's id; `version` the column behind ETag.
    `where` limits the visible rows (SQL over `t`), e.g. to rows not deleted. `unversioned` is SQL over `t` for a text
    that changes when the answer changes without a new version; the text is the part of the ETag after a semicolon.
    """

    name: str
    model: type[models.Model]
    fields: tuple[Field, ...]
    includes: tuple[Field, ...] = ()
    tenant_column: str | None = "tenant_id"
    key: str = "id"
    version: str | None = "version"
    where: str = ""
    unversioned: str = ""
    example: dict[str, Any] | None = None
    rows: str = ""
    representation: Any = None

    @property
    def table(self) -> str:
        """The quoted table name, or the SQL in its place."""
        return self.rows or f'"{self.model._meta.db_table}"'

    def select(self, chosen: "Selection") -> str:
        """The select list of the chosen members."""
        return _select_list(self, chosen)

    def schema(self) -> Schema:
        """The OpenAPI schema of the whole: every field is there; `fields` leaves some out, `include` adds others."""
        members = {member.name: member.schema for member in (*self.fields, *self.includes)}
        found: Schema = {"type": "object", "properties": members, "required": [member.name for member in self.fields]}
        if self.example:
            found["examples"] = [self.example]
        return found


@dataclass(frozen=True, slots=True)
class Selection:
    """The members that the caller asks for: `fields` (None: all) and `include`."""

    fields: tuple[str, ...] | None = None
    includes: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Tell whether this is the plain representation, without `fields` and `include`."""
        return self.fields is None and not self.includes

    def members(self, shape: Shape) -> list[Field]:
        """The chosen fields in the shape's order; the id is always there."""
        if self.fields is None:
            fields = list(shape.fields)
        else:
            fields = [member for member in shape.fields if member.name in self.fields or member.name == "id"]
        return fields + [member for member in shape.includes if member.name in self.includes]

    def tag(self) -> str:
        """Return a text that identifies this selection in the ETag; empty for the plain representation."""
        return "" if self.whole else ",".join(self.fields or ("*",)) + "+" + ",".join(self.includes)


@lru_cache(maxsize=2048)
def _select_list(shape: Shape, chosen: Selection) -> str:
    return ", ".join(f'{member.sql} AS "{member.name}"' for member in chosen.members(shape))


_WHOLE = Selection()


def _names(raw: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in raw.split(",") if part.strip()))


def select(shape: Shape, fields: str | None, include: str | None) -> Selection:
    """Read the `fields` and `include` parameters.

    :raises UnknownField: a name in `fields` is unknown; the refusal lists the known ones.
    :raises UnknownInclude: a name in `include` is unknown, or there are more than five.
    """
    if fields is None and include is None:
        return _WHOLE
    known = [member.name for member in shape.fields]
    includable = [member.name for member in shape.includes]
    wanted = _names(fields) if fields is not None else None
    included = _names(include or "")
    for name in wanted or ():
        if name not in known:
            raise UnknownField(f"There is no field {name[:64]!r}.", allowed=known)
    for name in included:
        if name not in includable:
            raise UnknownInclude(f"{name[:64]!r} cannot be included.", allowed=includable)
    if len(included) > 5:
        raise UnknownInclude("At most five includes at once.", allowed=includable)
    return Selection(wanted or None, tuple(sorted(included)))
