"""`$export`: asking for a bulk export, how far it is, its files, and its end. Source: Bulk Data Access IG 2.0.0, export.html."""

from typing import Any, Final
from uuid import UUID

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.http import http_date

from api.errors import MethodNotAllowed, NotAcceptable
from api.operations import Operation
from api.permissions import FeatureNotEnabled
from api.writing import Command
from core import clock
from core.actor import Actor
from core.errors import Gone, PlatformError
from core.pipeline import Call, Rows
from fhir_api import answers, negotiation, smart
from fhir_api.access.records import Access
from fhir_api.exports import files, reading, states
from fhir_api.exports.actions import NoSuchExport, cancel_export, locked_export, request_export
from fhir_api.exports.asking import LONGEST_QUERY, Wish, address_pairs, pairs_of, read_wish
from fhir_api.exports.filters import types_of
from fhir_api.exports.refusals import AsyncRequired, InvalidExport
from fhir_api.reading import read_body
from fhir_api.search.parse import Pair
from fhir_api.store import NoSuchResource

from .base import FEATURE, READ_SCOPE, FhirViewSet
from .instances import check_name

NDJSON: Final = "application/fhir+ndjson"
BULK_FEATURE: Final = "bulk_export"
_RETRY_SECONDS: Final = 2


class ExportFailed(PlatformError):
    """The export was given up after an hour of trouble on the server's side (500)."""

    code = "export_failed"
    title = "The export failed; begin another one."


class ExportExpired(Gone):
    """The files of the export were kept for their time and are deleted."""

    code = "export_expired"
    title = "The export has expired."


class PatientBound(smart.OutsideScopes):
    """A token for one patient's record exports nothing."""

    title = "A token that is bound to a patient cannot export."


class _ExportViewSet(FhirViewSet):
    """What all of them share: a token for one patient is refused, whatever it asks."""

    def _authorize(self, tenant_id: UUID, proof: Rows, *, writing: bool) -> Actor:
        actor = super()._authorize(tenant_id, proof, writing=writing)
        if self.access.patient:
            raise PatientBound
        return actor

    def extra_calls(self, tenant_id: UUID) -> tuple[Call, ...]:
        """Nothing of the record is changed: the scope of writers is not asked for."""
        return ()

    def check_extra(self, actor: Actor, rows: Any) -> None:
        """Reading is enough."""


class ExportViewSet(_ExportViewSet):
    """Kick-off, of all types, of patients' records and of those of a group's members."""

    operations = {
        name: Operation(scope=READ_SCOPE, summary=summary, feature=FEATURE, policy="bulk", status=202)
        for name, summary in (
            ("system", "Export the record"),
            ("patients", "Export the records of patients"),
            ("group", "Export the records of a group's members"),
        )
    }

    def system(self, request: HttpRequest) -> HttpResponse:
        """Export all types."""
        return self._begin(states.SYSTEM)

    def patients(self, request: HttpRequest) -> HttpResponse:
        """Export what belongs to patients' records."""
        return self._begin(states.PATIENT)

    def group(self, request: HttpRequest, fhir_id: str) -> HttpResponse:
        """Export what belongs to the records of a group's members; that the group is absent is an answer about the record."""
        check_name("Group", fhir_id)
        try:
            return self._begin(states.GROUP, fhir_id)
        except (NoSuchResource, Gone) as refusal:
            outcome = 410 if isinstance(refusal, Gone) else 404
            self.note(self._entered, Access("export", "Group", fhir_id, outcome=outcome))
            raise

    def _begin(self, level: str, group: str = "") -> HttpResponse:
        if self.request.method == "HEAD":
            raise MethodNotAllowed(headers={"Allow": "GET, POST"})
        return self.write(lambda command: self._request(command, level, group))

    def _request(self, command: Command, level: str, group: str) -> HttpResponse:
        if BULK_FEATURE not in command.actor.features:
            raise FeatureNotEnabled(f"The feature {BULK_FEATURE} is not enabled.", feature=BULK_FEATURE)
        if not negotiation.is_async(self.request):
            raise AsyncRequired("Send Prefer: respond-async.", issue_type="required")
        if group:
            self.access.demand("Group", smart.READ)
        wish = read_wish(level, self._pairs(), lenient=negotiation.is_lenient(self.request), group=group)
        job = request_export(
            actor=command.actor,
            wish=wish,
            types=self._allowed(wish),
            access=self.access,
            request_url=self._url(group),
            at=command.at,
        )
        headers = {"Content-Location": f"{settings.FHIR_BASE_URL}/_export/{job.id}"}
        return answers.respond(b"", status=202, headers=headers)

    def _pairs(self) -> list[Pair]:
        """The parameters of the address and, of a POST, of its Parameters too."""
        pairs = address_pairs(self.request.META.get("QUERY_STRING", ""))
        if self.request.method == "POST" and self.request.body:
            negotiation.check_content_type(self.request)
            pairs += pairs_of(read_body(self.request.body, None))
        return pairs

    def _allowed(self, wish: Wish) -> tuple[str, ...]:
        """The types that the caller may read and search; each that was named has to be one of them, if by a filter only."""
        for name in wish.types if wish.named else types_of(wish.filters):
            self.access.demand(name, smart.READ)
            self.access.demand(name, smart.SEARCH)
        found = tuple(
            name for name in wish.types if self.access.allows(name, smart.READ) and self.access.may_search(name)
        )
        if not found:
            self.access.demand(wish.types[0], smart.READ + smart.SEARCH)
        return found

    def _url(self, group: str) -> str:
        query = self.request.META.get("QUERY_STRING", "")
        if len(query) > LONGEST_QUERY:
            raise InvalidExport("The query string is too long; send Parameters by POST.", issue_type="too-long")
        path = {"system": "", "patients": "/Patient", "group": f"/Group/{group}"}[self.action]
        return f"{settings.FHIR_BASE_URL}{path}/$export{'?' if query else ''}{query}"


class ExportJobViewSet(_ExportViewSet):
    """How far an export is, for who asked for it; and its end."""

    operations = {
        "retrieve": Operation(scope=READ_SCOPE, summary="Read how far an export is", feature=FEATURE),
        "destroy": Operation(scope=READ_SCOPE, summary="Cancel an export", feature=FEATURE, status=202),
    }

    def retrieve(self, request: HttpRequest, job_id: UUID) -> HttpResponse:
        """202 while it is under way, then the manifest."""
        _actor, rows = self.read(lambda tenant_id: reading.status_calls(tenant_id, job_id, self.subject.id))
        found = reading.status_of(*rows)
        if found is None or found.state == states.CANCELLED:
            raise NoSuchExport
        if found.is_over(clock.now()):
            raise ExportExpired
        if found.state == states.FAILED:
            raise ExportFailed(f"The last trouble was {found.error}.")
        if found.state in states.OPEN:
            progress = f"{found.done} of {found.types} types, {found.exported} resources"
            return answers.respond(
                b"", status=202, headers={"X-Progress": progress, "Retry-After": str(_RETRY_SECONDS)}
            )
        response = HttpResponse(orjson.dumps(_manifest(found, job_id)), content_type="application/json")
        response.headers["Expires"] = http_date(found.expires_at)
        return response

    def destroy(self, request: HttpRequest, job_id: UUID) -> HttpResponse:
        """Stop it, or give up its files."""

        def work(command: Command) -> HttpResponse:
            cancel_export(actor=command.actor, job=command.target, at=command.at)
            return answers.respond(b"", status=202)

        return self.write(work, find=lambda actor: locked_export(actor, job_id))


class ExportFileViewSet(_ExportViewSet):
    """The files of an export, for who asked for it."""

    operations = {"download": Operation(scope=READ_SCOPE, summary="Fetch a file of an export", feature=FEATURE)}

    def negotiate(self, request: HttpRequest) -> None:
        """Refuse a caller that takes no NDJSON.

        :raises NotAcceptable: as said.
        """
        accept = request.META.get("HTTP_ACCEPT", "").lower()
        if accept and not any(kind in accept for kind in ("ndjson", "*/*", "application/*", "application/fhir+json")):
            raise NotAcceptable(f"The file is {NDJSON}.")

    def download(self, request: HttpRequest, job_id: UUID, name: str) -> HttpResponse:
        """The lines of a file; whose data they are is recorded first."""
        actor, rows = self.read(lambda tenant_id: reading.content_calls(tenant_id, job_id, self.subject.id, name))
        found = reading.content_of(*rows)
        if found is None:
            raise NoSuchExport
        if found.type != "OperationOutcome":
            self.access.demand(found.type, smart.READ)
            self.note(actor, Access("export", found.type, str(job_id), patients=found.patients, count=found.lines))
        packed = negotiation.takes_gzip(request)
        content = (
            files.gzipped(found.parts, size=found.size, checksum=found.checksum) if packed else files.plain(found.parts)
        )
        response = HttpResponse(content, content_type=NDJSON)
        response.headers["Vary"] = "Accept-Encoding"
        if packed:
            response.headers["Content-Encoding"] = "gzip"
        return response


def _manifest(found: reading.Status, job_id: UUID) -> dict[str, Any]:
    """The list of files. Source: Bulk Data Access IG 2.0.0, export.html, "Response - Output Manifest"."""
    base = f"{settings.FHIR_BASE_URL}/_export/{job_id}"
    listed: dict[str, list[dict[str, Any]]] = {kind: [] for kind in states.KINDS}
    for kind, type_name, name, lines in found.files:
        shown = "Bundle" if kind == states.DELETED else type_name
        listed[kind].append({"type": shown, "url": f"{base}/{name}", "count": lines})
    return {
        "transactionTime": found.transaction_time,
        "request": found.request,
        "requiresAccessToken": True,
        "output": listed[states.OUTPUT],
        **({"deleted": listed[states.DELETED]} if found.since else {}),
        "error": listed[states.ERROR],
    }
