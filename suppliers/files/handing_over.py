"""Files that a document hands over to its other party: held against the author's own, and bound to it, so that they stay.

Source: contract, supply.md 4 "Files" and supply-shelf.md "File".
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson

from core.arrays import array_literal
from core.db import bind_call
from core.errors import FieldError, InvalidFields
from core.ids import uuid7
from core.pipeline import Call, Rows, Statement

from .states import FileStatus, Visibility

MOST_FILES: Final = 20
_SHARED: Final = (Visibility.COUNTERPARTY.value, Visibility.CATALOG.value)

Named = Mapping[str, Sequence[UUID]]  # the member of the body, such as lines.3.file_ids, with what it names


class Handed(NamedTuple):
    """A file of the author."""

    id: UUID
    name: str
    content_type: str
    size: int
    status: str
    visibility: str
    purpose: str
    sha256: str
    title: str
    expires_on: date | None

    def as_json(self) -> dict[str, Any]:
        """Return what a document keeps of it."""
        return {"id": str(self.id), "name": self.name, "content_type": self.content_type, "size": self.size}

    def as_received(self) -> dict[str, Any]:
        """Return what the other party keeps of it."""
        day = self.expires_on.isoformat() if self.expires_on else None
        more = {"purpose": self.purpose, "sha256": self.sha256, "title": self.title, "expires_on": day}
        return {**self.as_json(), **more}


# Who deletes a file locks it first, and looks for bindings behind the lock.
_FILES = Statement.of(
    "SELECT f.id, f.name, f.content_type, f.size, f.status, f.visibility, f.purpose, f.sha256, f.title, f.expires_on"
    " FROM suppliers_file f"
    " WHERE f.tenant_id = $1 AND f.id = ANY($2::uuid[]) ORDER BY f.id FOR NO KEY UPDATE",
    row=Handed,
)
_BOUND = Statement.of(
    "SELECT f.id, f.name, f.content_type, f.size, f.status, f.visibility, f.purpose, f.sha256, f.title, f.expires_on"
    " FROM suppliers_file f WHERE f.tenant_id = $1 AND f.status = $3 AND f.visibility = ANY($4::text[]) AND f.id IN ("
    " SELECT b.file_id FROM suppliers_filebinding b WHERE b.tenant_id = $1 AND b.resource_id = ANY($2::uuid[])) ORDER BY f.id",
    row=Handed,
)
_BIND = Statement.of(
    "INSERT INTO suppliers_filebinding (id, tenant_id, created_at, updated_at, version, file_id, resource_type, resource_id,"
    " role, position, language) SELECT g.id, $1, $3, $3, 1, g.file_id, $4, $5, '', g.position, ''"
    " FROM json_to_recordset($2) AS g (id uuid, file_id uuid, position int) ORDER BY g.file_id"
    " ON CONFLICT DO NOTHING RETURNING id::text"
)
_UNBIND = Statement.of(
    "DELETE FROM suppliers_filebinding b WHERE b.tenant_id = $1 AND b.resource_type = $3 AND b.resource_id = $4"
    " AND b.file_id <> ALL ($2::uuid[]) RETURNING b.id::text"
)
_RECEIVE = Statement.of(
    "INSERT INTO suppliers_receivedfile (id, tenant_id, created_at, updated_at, version, owner_tenant_id, file_id, name, purpose,"
    " content_type, size, sha256, title, expires_on) SELECT uuidv7(), $1::uuid, $3, $3, 1, $2::uuid, g.id, g.name, g.purpose,"
    " g.content_type, g.size, g.sha256, g.title, g.expires_on FROM json_to_recordset($4) AS g (id uuid, name text, purpose text,"
    " content_type text, size bigint, sha256 text, title text, expires_on date) ORDER BY g.id"
    " ON CONFLICT DO NOTHING RETURNING id::text"
)


def ids_of(named: Named) -> list[UUID]:
    """Return all files that are named, each once, in their order."""
    return [*dict.fromkeys(key for ids in named.values() for key in ids)]


def files_calls(tenant_id: UUID, named: Named) -> list[Call]:
    """Return the statement that locks the files of the author that are named, where there are any; the author is bound."""
    ids = ids_of(named)
    return [Call(_FILES, [str(tenant_id), array_literal(ids)])] if ids else []


def check_files(named: Named, found: Iterable[Rows], *, held: Collection[UUID] = ()) -> dict[UUID, Handed]:
    """Return the author's files that are named, by their ids; `found` is what `files_calls` has read.

    What the document holds already (`held`) may be the other party's too, which has handed it over before.

    :raises InvalidFields: a file is none of the author's, is not ready, or is private; names each.
    """
    known = {one.id: one for rows in found for one in rows.of(Handed)}
    wrong = [
        FieldError(f"{member}.{number}", *fault)
        for member, ids in named.items()
        for number, key in enumerate(ids)
        if (key in known or key not in held) and (fault := _fault(known.get(key)))
    ]
    if wrong:
        raise InvalidFields(errors=wrong)
    return known


def _fault(file: Handed | None) -> tuple[str, str] | None:
    """Return the code and the text of what keeps a file from being handed over; None: nothing does."""
    if file is None:
        return "unknown_file", "There is no such file."
    if file.status != FileStatus.READY:
        return "file_not_ready", "The file is not ready."
    if file.visibility not in _SHARED:
        return "file_private", "The file is private: give it the visibility counterparty."
    return None


def bound_call(tenant_id: UUID, resources: Collection[UUID]) -> Call:
    """Return the statement that reads the files bound to some documents that their other party may see; the author is bound."""
    given = [str(tenant_id), array_literal(resources), FileStatus.READY.value, array_literal(_SHARED)]
    return Call(_BOUND, given)


def bound_of(found: Rows) -> list[Handed]:
    """Return the files that `bound_call` has read."""
    return found.of(Handed)


def binding_calls(tenant_id: UUID, named: Named, resource_type: str, resource_id: UUID, at: datetime) -> list[Call]:
    """Return the statement that binds files to a document, where any are named; the author is bound."""
    ids = ids_of(named)
    if not ids:
        return []
    made = [{"id": str(uuid7()), "file_id": str(key), "position": number} for number, key in enumerate(ids)]
    return [Call(_BIND, [str(tenant_id), orjson.dumps(made), at.isoformat(), resource_type, str(resource_id)])]


def rebinding_calls(tenant_id: UUID, named: Named, resource_type: str, resource_id: UUID, at: datetime) -> list[Call]:
    """Return the statements by which a draft has these files and no others; the author is bound."""
    given: list[str | bytes | None] = [str(tenant_id), array_literal(ids_of(named)), resource_type, str(resource_id)]
    return [Call(_UNBIND, given), *binding_calls(tenant_id, named, resource_type, resource_id, at)]


def received_calls(
    reader_id: UUID, owner_id: UUID, files: Iterable[Mapping[str, Any]], at: datetime, *, bound_id: UUID
) -> list[Call]:
    """Return the statements by which the other party of a document may read the files that it hands over from now on.

    `files` are those of `Handed.as_received`. The tenant `bound_id` is bound before and afterwards.
    """
    given = [*files]
    if not given:
        return []
    call = Call(_RECEIVE, [str(reader_id), str(owner_id), at.isoformat(), orjson.dumps(given)])
    return [call] if reader_id == bound_id else [bind_call(reader_id), call, bind_call(bound_id)]
