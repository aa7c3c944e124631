"""What a representation is compiled to: the SQL of its members; and how `fields` and `include` choose among them.

PostgreSQL writes the JSON, so a list costs no object per row. In every expression `t` is the table's row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db import models

from core.errors import Malformed

from .unions import Branch, Union


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
    """One member of the JSON object: its name, and the SQL expression behind it."""

    name: str
    sql: str


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A compiled representation: its table, its fields, and the members that may be included.

    `tenant_column` None marks a global table; `key` is the column of the path's id; `version` the column behind ETag.
    `where` limits the visible rows (SQL over `t`), e.g. to rows not deleted. `unversioned` is SQL over `t` for a text
    that changes when the answer changes without a new version; the text is the part of the ETag after a semicolon.
    `unpacked` is a column of JSON that many members are taken from: it is decompressed once for a row, not for each.
    `whose` is the column that names a row's patient: cursor lists hand its values to `ApiViewSet.before_list`.
    `rows` is SQL that stands in place of the table; in a union a page finds keys first, and then reads their rows.
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
    rows: str = ""
    unpacked: str = ""
    whose: str = ""
    representation: Any = None

    @property
    def table(self) -> str:
        """The quoted table name, or the SQL in its place."""
        return self.rows or f'"{self.model._meta.db_table}"'

    @property
    def built(self) -> str:
        """The same for whoever reads members of rows that are found by their key."""
        return self.rows.built if isinstance(self.rows, Union) else self.table

    @property
    def branches(self) -> tuple[Branch, ...]:
        """The rows of each table, if they are a union."""
        return self.rows.branches if isinstance(self.rows, Union) else ()

    def select(self, chosen: "Selection") -> str:
        """The select list of the chosen members, with a FROM clause where a column is unpacked."""
        return _select_list(self, chosen)


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
    members = ", ".join(f'{member.sql} AS "{member.name}"' for member in chosen.members(shape))
    column = f't."{shape.unpacked}"'
    if not shape.unpacked or column not in members:
        return members
    once = f"(SELECT {column} || '{{}}'::jsonb AS value OFFSET 0) AS unpacked"  # a plain reference would be taken apart
    return f"{members.replace(column, 'unpacked.value')} FROM {once}"


_WHOLE = Selection()


def _names(raw: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in raw.split(",") if part.strip()))


def wanted_fields(fields: str | None, known: Sequence[str]) -> tuple[str, ...] | None:
    """Read the `fields` parameter; None for all.

    :raises UnknownField: a name is none of those that are known; the refusal lists them.
    """
    wanted = _names(fields or "")
    for name in wanted:
        if name not in known:
            raise UnknownField(f"There is no field {name[:64]!r}.", allowed=[*known])
    return wanted or None


def select(shape: Shape, fields: str | None, include: str | None) -> Selection:
    """Read the `fields` and `include` parameters.

    :raises UnknownField: a name in `fields` is unknown; the refusal lists the known ones.
    :raises UnknownInclude: a name in `include` is unknown, or there are more than five.
    """
    if fields is None and include is None:
        return _WHOLE
    wanted = wanted_fields(fields, [member.name for member in shape.fields])
    includable = [member.name for member in shape.includes]
    included = _names(include or "")
    for name in included:
        if name not in includable:
            raise UnknownInclude(f"{name[:64]!r} cannot be included.", allowed=includable)
    if len(included) > 5:
        raise UnknownInclude("At most five includes at once.", allowed=includable)
    return Selection(wanted, tuple(sorted(included)))
