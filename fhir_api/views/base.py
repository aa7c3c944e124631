"""The base of all FHIR views: R4's headers, forms and refusals on the platform's way of proving who asks."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar
from urllib.parse import parse_qsl
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from api.body import LIMIT_BYTES
from api.idempotency import KeyReused, Replay
from api.operations import Operation
from api.permissions import InsufficientScope
from api.views import ApiViewSet
from api.writes import Work
from api.writing import Command
from core import clock
from core.actor import Actor
from core.errors import NotFound
from core.pipeline import Call, Rows
from fhir_api import answers, compartments, negotiation, smart
from fhir_api.access.patients import patients_of
from fhir_api.access.records import Access, Revealing, reason_of, record
from fhir_api.intentions import Write, Written
from fhir_api.parts import Part, part_of
from fhir_api.reading import read_stored
from fhir_api.resources.types import NUMBERS
from fhir_api.store import NoSuchResource
from fhir_api.store.models import Method
from fhir_api.store.reads import last_body_call
from fhir_api.writes import perform
from organizations.public import policies_call, policies_of

READ_SCOPE, WRITE_SCOPE, FEATURE = "healthcare.read", "healthcare.write", "fhir"
LETTERS = {
    Method.POST: smart.CREATE,
    Method.PUT: smart.UPDATE,
    Method.PATCH: smart.UPDATE,
    Method.DELETE: smart.DELETE,
}


class UnknownType(NotFound):
    """Resources of this type are not kept here, or the type is misspelt."""

    code = "unknown_resource_type"
    title = "There are no resources of this type."


def reading(summary: str) -> Operation:
    """What an operation that reads demands."""
    return Operation(scope=READ_SCOPE, summary=summary, feature=FEATURE)


def writing(summary: str, *, body_limit: int = LIMIT_BYTES) -> Operation:
    """What an operation that writes demands: one of two scopes; which one, the tenant's policy says (`FhirViewSet.check_extra`)."""
    return Operation(
        scope="", any_scope=(WRITE_SCOPE, READ_SCOPE), summary=summary, feature=FEATURE, body_limit=body_limit
    )


def check_type(type_name: str) -> str:
    """Pass a type on.

    :raises UnknownType: it is not registered.
    """
    if type_name not in NUMBERS:
        raise UnknownType(f"The types are {', '.join(NUMBERS)}.", issue_type="not-supported")
    return type_name


class FhirViewSet(ApiViewSet):
    """Base of every FHIR view; refusals are OperationOutcomes because of the area (`apps`)."""

    family = "fhir"
    documented: ClassVar[bool] = False
    access: smart.Access
    _entered: Actor
    _may_read = False

    def negotiate(self, request: HttpRequest) -> None:
        """Refuse a caller that takes no JSON of R4.

        :raises NotAcceptable: as said.
        """
        negotiation.check_accept(request)

    def _authorize(self, tenant_id: UUID, proof: Rows, *, writing: bool) -> Actor:
        actor = super()._authorize(tenant_id, proof, writing=writing)
        self._entered, self.access = actor, smart.access_of(actor)
        self._may_read = actor.may(READ_SCOPE)
        return actor

    def reads(self, type_name: str) -> bool:
        """Tell whether the caller may be shown resources of a type that others wrote."""
        return self._may_read and self.access.allows(type_name, smart.READ)

    # -- writing ------------------------------------------------------------------------------------------------------

    def extra_calls(self, tenant_id: UUID) -> Sequence[Call]:
        """The policies travel with the proof."""
        return (policies_call(tenant_id),)

    def check_extra(self, actor: Actor, rows: Sequence[Rows]) -> None:
        """Demand the scope that the tenant's policy names.

        :raises InsufficientScope: the actor lacks it.
        """
        scope = policies_of(rows[0])["fhir_write_scope"]
        if not actor.may(scope):
            raise _lacks(scope)

    def write(
        self, work: Work | None = None, *, find: Callable[[Actor], Any] | None = None, **more: Any
    ) -> HttpResponse:
        """Run one action in one transaction; a refusal that tells something of the record leaves its own after it.

        :raises core.errors.PlatformError: as the action does.
        """
        try:
            return super().write(work, find=find, **more)
        except Revealing as refusal:
            if refusal.access:
                self.note(self._entered, refusal.access)
            raise

    def change(self, make: Callable[[], Write]) -> HttpResponse:
        """Read one write from the request, carry it out in one transaction and answer it."""
        return self.write(lambda command: self._perform(command, make()))

    def carried_out(self, command: Command, write: Write) -> Written:
        """Carry a write out, as far as the caller's rights reach, and record what it shows of others."""
        self.demand_write(write)
        (written,) = perform(command.actor, [write], at=command.at)
        if written.status == 201:
            self.access.demand(write.type, smart.CREATE)
        self.note(command.actor, *records_of(write, written))
        return written

    def demand_write(self, write: Write) -> None:
        """Demand the rights of a write: its own, and to find and read where criteria or a test tell of the record.

        :raises OutsideScopes, InsufficientScope: the caller lacks one.
        """
        self.access.demand(write.type, LETTERS[write.method])
        self.demand_asking(write.type, write.asks)

    def demand_asking(self, type_name: str, letters: str) -> None:
        """Demand that the caller may ask for resources of a type in these ways.

        :raises OutsideScopes, InsufficientScope: he may not.
        """
        for letter in letters:
            self.access.demand(type_name, letter)
        if letters and not self._may_read:
            raise _lacks(READ_SCOPE)

    def _perform(self, command: Command, write: Write) -> HttpResponse:
        written = self.carried_out(command, write)
        sent = written.status == 201 or write.method is Method.PUT  # what the caller wrote himself tells him nothing
        return answers.of_write(self.request, written, shown=sent or self.reads(write.type))

    def _work(self, actor: Actor, work: Work, target: Any) -> HttpResponse:
        self.request.told = []  # type: ignore[attr-defined]  # `note` adds to it, a Bundle's reads too
        response: HttpResponse = work(Command(actor=actor, data={}, target=target, at=clock.now()))
        return response

    def replay_context(self) -> Any:
        """With which rights the answer was made, and what was read for it."""
        told: list[Access] = self.request.told  # type: ignore[attr-defined]
        return {"rights": self._rights(), "reads": [read.kept() for read in told]}

    def _rights(self) -> list[Any]:
        grants = self.access.grants
        letters = None if grants is None else {name: "".join(sorted(grants[name])) for name in sorted(grants)}
        return [self._may_read, letters, self.access.patient]

    def _replay(self, actor: Actor, replay: Replay) -> HttpResponse:
        """Answer again, where there is a body with the same rights or not at all; what was read for it is read again."""
        if replay.context is not None:
            if (replay.content or replay.context["reads"]) and replay.context["rights"] != self._rights():
                raise KeyReused("The key was used with other rights, and its answer holds what they allow to see.")
            self.note(actor, *(Access(*kept) for kept in replay.context["reads"]))
        headers = {**replay.headers, "Idempotency-Replayed": "true"}
        return answers.respond(
            replay.content, negotiation.answered_type(self.request), status=replay.status, headers=headers
        )

    # -- reading ------------------------------------------------------------------------------------------------------

    def read_within(self, calls: Callable[[UUID, smart.Access], Sequence[Call]]) -> tuple[Actor, list[Rows]]:
        """Ask as `read` does, with statements that are made for what the caller may see.

        The token's scopes are known beforehand; only where the roles leave less, the first answers are thrown away.
        """
        guess = smart.of_subject(self.subject)
        actor, rows = self.read(lambda tenant_id: calls(tenant_id, guess))
        if self.access != guess:
            actor, rows = self.read(lambda tenant_id: calls(tenant_id, self.access))
        return actor, rows

    def version(self, call: Callable[[UUID], Call], read: Access, part: Part = None) -> HttpResponse:
        """Answer one version of a resource, or what `part` leaves of it: 200, 304 or 410; 404 where there is none."""
        parts: list[Part] = []

        def calls(tenant_id: UUID) -> tuple[Call, ...]:
            found = call(tenant_id)
            parts.append(part or part_of(self.request, read.type))
            if not self.subject.patient:
                return (found,)
            return (found, last_body_call(tenant_id, read.type, read.fhir_id))

        actor, (rows, *current) = self.read(calls)
        self.access.demand(read.type, smart.READ)
        if current and not _is_seen(self.subject.patient, read.type, rows, current[0]):
            read.outcome = 404
            self.note(actor, read)
            raise NoSuchResource
        _fill_in(read, rows)
        answer = answers.of_version(self.request, rows, part=parts[-1]) if read.count else None
        if answer is not None:
            read.outcome = answer.status_code
        self.note(actor, read)
        return answer or answers.of_version(self.request, rows)

    def note(self, actor: Actor, *reads: Access) -> None:
        """Write the records of reads before their answer leaves; see `fhir_api.access`.

        :raises InvalidReason: X-Break-Glass-Reason is malformed.
        """
        if not reads:
            return
        told: list[Access] | None = getattr(self.request, "told", None)
        if told is not None:
            told.extend(reads)
        reason = reason_of(self.request.META.get("HTTP_X_BREAK_GLASS_REASON"))
        for read in reads:
            read.reason = reason
        record(actor, *reads)


def _lacks(scope: str) -> InsufficientScope:
    challenge = f'Bearer error="insufficient_scope", scope="{scope}"'
    headers = {"WWW-Authenticate": challenge}
    return InsufficientScope(f"This needs the scope {scope}.", headers=headers, required=[scope])


def _is_seen(patient: str, type_name: str, rows: Rows, current: Rows) -> bool:
    """Tell whether a patient may see a version: it is in his compartment, and so is the resource as it is now."""
    bodies = [found.value(0, column) for found, column in ((rows, 2), (current, 0)) if len(found)]
    return all(compartments.holds(patient, type_name, read_stored(body)) for body in bodies if body)


def _fill_in(read: Access, rows: Rows) -> None:
    """Say of the record what a version's row told."""
    if not len(rows):
        read.outcome = 404
        return
    body = rows.value(0, 2)
    read.patients = patients_of([(read.type, read.fhir_id, body)])
    read.count = int(body is not None)
    read.outcome = 410 if body is None else 200


def records_of(write: Write, written: Written) -> list[Access]:
    """The records of what a write showed of others: the resource that it did not change, those that criteria deleted.

    No fact tells of the former; who replaces a resource under its id by itself knew it.
    """
    found, names = written.version, [name for name, _ in parse_qsl(write.criteria.rpartition("?")[2])]
    reads = []
    if found is not None and not written.changed and (write.criteria or write.method is not Method.PUT):
        whose = patients_of([(found.type, found.fhir_id, found.body)])
        count = int(found.body is not None)
        reads.append(Access("read", found.type, found.fhir_id, parameters=names, patients=whose, count=count))
    if written.ended:
        whose = patients_of((one.type, one.fhir_id, one.body) for one in written.ended)
        count = len(written.ended)
        reads.append(Access("delete", write.type, parameters=names, patients=whose, count=count, outcome=204))
    return reads
