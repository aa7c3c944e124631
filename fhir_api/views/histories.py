"""`_history` of a resource, a type and all. Source: R4 http.html#history; contract, fhir.md point 39."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from core import clock, cursors
from core.errors import Malformed
from core.pipeline import Call
from core.watermark import settled
from fhir_api import answers, compartments, negotiation, smart
from fhir_api.access.patients import patients_of
from fhir_api.access.records import Access
from fhir_api.history import COUNTED_AT_MOST, Entry, HistoryQuery, Spot, count_call, entries_of, exists_call, page_call
from fhir_api.history_bundle import bundle, link
from fhir_api.ids import check_id
from fhir_api.instants import read_instant, read_span
from fhir_api.outcomes import Issue
from fhir_api.search.asking import count_capped, ignored
from fhir_api.search.control import MOST_COUNT, USUAL_COUNT
from fhir_api.search.refusals import unknown
from fhir_api.store import NoSuchResource

from .base import FhirViewSet, check_type, reading

_SORT = "history"
_PARAMETERS = ("_since", "_at", "_count")
_KNOWN = frozenset({*_PARAMETERS, "_cursor", "_format", "_pretty"})


class InvalidCount(Malformed):
    """`_count` is not a whole number from 0 up."""

    code = "invalid_count"
    title = "_count is malformed."


class RepeatedParameter(Malformed):
    """A parameter of a history is given with two values."""

    code = "repeated_parameter"
    title = "A parameter is given with two values."


@dataclass(frozen=True, slots=True)
class _Asked:
    """What one request asks for; `total` is known from the first page on, `warnings` tell what was left out.

    `used` are its parameters as they were used, for the links.
    """

    tenant_id: UUID
    used: Mapping[str, str]
    query: HistoryQuery
    count: int
    after: Spot | None
    total: int | None
    warnings: Sequence[Issue]

    def calls(self) -> list[Call]:
        """The statements that answer it, in one trip."""
        found = [page_call(self.tenant_id, self.query, after=self.after, limit=self.count)]
        if self.after is None:
            found.append(count_call(self.tenant_id, self.query))
            if self.query.fhir_id:
                found.append(exists_call(self.tenant_id, self.query))
        return found


class HistoryViewSet(FhirViewSet):
    """The three histories."""

    operations = {
        "instance": reading("Read the history of a resource"),
        "kind": reading("Read the history of a type"),
        "system": reading("Read the history of all resources"),
    }

    def instance(self, request: HttpRequest, type_name: str, fhir_id: str) -> HttpResponse:
        """The versions of one resource."""
        return self._history(type_name, fhir_id)

    def kind(self, request: HttpRequest, type_name: str) -> HttpResponse:
        """The versions of all resources of a type."""
        return self._history(type_name)

    def system(self, request: HttpRequest) -> HttpResponse:
        """The versions of all resources."""
        return self._history()

    def _history(self, type_name: str = "", fhir_id: str = "") -> HttpResponse:
        asked: list[_Asked] = []
        until = self._until() if self.request.GET.get("_since") and not fhir_id else None

        def calls(tenant_id: UUID, access: smart.Access) -> list[Call]:
            used, warnings = _given(self.request), self._left_out()
            query = replace(_query(type_name, fhir_id, access, used), until=until)
            after, total = self._open(tenant_id, used)
            count = _count(used.get("_count"))
            if count > MOST_COUNT:
                count, used["_count"] = MOST_COUNT, str(MOST_COUNT)
                warnings.append(count_capped())
            asked.append(_Asked(tenant_id, used, query, count, after, total, warnings))
            return asked[-1].calls()

        actor, (rows, *others) = self.read_within(calls)
        if type_name:
            self.access.demand(type_name, smart.READ if fhir_id else smart.SEARCH)
        found, total = asked[-1], asked[-1].total
        if others:
            counted = int(others[0].value() or 0)
            total = counted if counted <= COUNTED_AT_MOST else None
        absent = len(others) > 1 and not len(others[1])
        entries = entries_of(rows)
        self.note(actor, self._read(type_name, fhir_id, entries[: found.count], absent=absent))
        if absent:
            raise NoSuchResource
        more = entries[found.count - 1].spot if 0 < found.count < len(entries) else None
        links = [("self", link(self.request.path, found.used))]
        if more:
            links.append(("next", link(self.request.path, {**found.used, "_cursor": self._seal(found, more, total)})))
        content = bundle(entries[: found.count], total=total, links=links, issues=found.warnings)
        return answers.of_bytes(self.request, content)

    def _until(self) -> datetime:
        """Where a feed ends: whoever asks next for what changed since its newest version misses nothing."""
        return settled(self._tenant_id(), lambda calls: self.read(lambda _: calls)[1])

    def _left_out(self) -> list[Issue]:
        """The warnings that a history does not have these parameters, as of a search.

        :raises UnknownSearchParameter: the client wants to be told so.
        """
        strict = negotiation.is_strict(self.request)
        errors = [unknown(name, "_history") for name, value in self.request.GET.items() if value and name not in _KNOWN]
        if strict and errors:
            raise errors[0]
        return list(map(ignored, errors))

    def _read(self, type_name: str, fhir_id: str, entries: Sequence[Entry], *, absent: bool) -> Access:
        return Access(
            "history",
            type_name,
            fhir_id,
            parameters=[name for name in _PARAMETERS if name in self.request.GET],
            patients=patients_of((entry.type, entry.fhir_id, entry.body) for entry in entries),
            count=len(entries),
            outcome=404 if absent else 200,
        )

    def _open(self, tenant_id: UUID, used: Mapping[str, str]) -> tuple[Spot | None, int | None]:
        text = used.get("_cursor")
        if not text:
            return None, None
        place = cursors.open(
            text,
            tenant_id=tenant_id,
            path=self.request.path,
            sort=_SORT,
            filters_hash=_filters(used),
            at=clock.now(),
        )
        moment, kind, version, total = (value or "" for value in place.values)
        return Spot(moment, int(kind), place.id, int(version)), int(total) if total else None

    def _seal(self, asked: _Asked, spot: Spot, total: int | None) -> str:
        values = (spot.moment, str(spot.type), str(spot.version), None if total is None else str(total))
        position = cursors.Position(values, spot.fhir_id)
        return cursors.seal(
            position,
            tenant_id=asked.tenant_id,
            path=self.request.path,
            sort=_SORT,
            filters_hash=_filters(asked.used),
            at=clock.now(),
        )


def _given(request: HttpRequest) -> dict[str, str]:
    """The parameters of a history that have a value.

    :raises RepeatedParameter: one has two.
    """
    found: dict[str, str] = {}
    for name, value in ((name, value) for name, values in request.GET.lists() for value in values):
        if value and name in _KNOWN and found.setdefault(name, value) != value:
            raise RepeatedParameter(f"{name} is given with two values.", issue_type="value")
    return found


def _query(type_name: str, fhir_id: str, access: smart.Access, used: Mapping[str, str]) -> HistoryQuery:
    if type_name:
        check_type(type_name)
    if fhir_id:
        check_id(fhir_id)
    since, at = used.get("_since"), used.get("_at")
    return HistoryQuery(
        type=type_name,
        fhir_id=fhir_id,
        types=None if type_name else _types(access),
        patient="" if type_name in compartments.SHARED else access.patient,
        since=read_instant(since, name="_since") if since else None,
        at=read_span(at, name="_at") if at else None,
    )


def _filters(used: Mapping[str, str]) -> str:
    return cursors.digest_filters((name, used.get(name, "")) for name in ("_since", "_at"))


def _types(access: smart.Access) -> tuple[str, ...] | None:
    """The types that a history of all shows; None for all. One patient's is that of his compartment.

    The history of a type or of all is of the scope that searches. Source: SMART App Launch 2.0, "Scopes for requesting FHIR Resources".
    """
    readable = access.types(smart.SEARCH)
    if not access.patient:
        return readable
    return tuple(name for name in compartments.CONFINED if readable is None or name in readable)


def _count(text: str | None) -> int:
    if not text:
        return USUAL_COUNT
    if not (text.isascii() and text.isdigit()):
        raise InvalidCount("_count is a whole number.", issue_type="value")
    return int(text.lstrip("0")[:9] or 0)  # as in searches
