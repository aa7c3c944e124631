"""`POST [base]`: batch and transaction. Source: R4 http.html#transaction; contract, fhir.md point 40."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import parse_qsl

from django.http import HttpRequest, HttpResponse

from api.writing import Command
from core.actor import Actor
from core.errors import Forbidden
from core.pipeline import Rows
from fhir_api import answers, negotiation, smart
from fhir_api.access.records import Access, Revealing
from fhir_api.bundles.answers import Answer, bundle
from fhir_api.bundles.batches import run_batch
from fhir_api.bundles.entries import Entry, listed, read_type
from fhir_api.bundles.links import Conditional
from fhir_api.bundles.reads import answer_of, check
from fhir_api.bundles.retries import begun_again
from fhir_api.bundles.transactions import transact
from fhir_api.definitions.facts import PATIENTS_TYPES
from fhir_api.intentions import Write, Written
from fhir_api.reading import read_body
from fhir_api.resources.types import NUMBERS

from .base import records_of, writing
from .searches import SearchViewSet

LIMIT_BYTES = 10 * 1_048_576
ENTRIES_OF_UNIT = 100


class BundleViewSet(SearchViewSet):
    """The base address."""

    operations = {
        **SearchViewSet.operations,
        "process": writing("Carry out a batch or transaction", body_limit=LIMIT_BYTES),
    }
    _refusal: Forbidden | None = None

    def process(self, request: HttpRequest) -> HttpResponse:
        """Carry out a Bundle; after a deadlock of two transactions the one that lost is begun again."""
        return begun_again(lambda: self.write(self._work_on))

    def check_extra(self, actor: Actor, rows: Sequence[Rows]) -> None:
        """Let those in who may only read: which entries change something is known later."""
        self._refusal = None
        try:
            super().check_extra(actor, rows)
        except Forbidden as refusal:
            self._refusal = refusal

    def _work_on(self, command: Command) -> HttpResponse:
        request: HttpRequest = self.request
        negotiation.check_content_type(request)
        sent = read_body(request.body, "Bundle", limit_bytes=self.operation.body_limit)
        kind, entries = read_type(sent), listed(sent)
        self.meter.charge(len(entries), of_unit=ENTRIES_OF_UNIT)
        carry_out = transact if kind == "transaction" else run_batch
        face = _RequestFace(self, request, command.actor)
        content = bundle(kind, carry_out(command.actor, entries, face, at=command.at))
        return answers.of_bytes(request, content)

    @property
    def refusal(self) -> Forbidden | None:
        """Why the caller may not write; None where he may."""
        return self._refusal


class _RequestFace:
    """The rights and wishes of one request; see `bundles.faces.Face`."""

    def __init__(self, view: BundleViewSet, request: HttpRequest, actor: Actor) -> None:
        self._view = view
        self._request = request
        self._actor = actor
        found = negotiation.preferred_return(request, otherwise="minimal")
        shown = found != "representation" or all(map(view.reads, NUMBERS))
        self._wanted = found if shown else "minimal"  # a conditional create or a patch would show what others wrote

    @property
    def wanted(self) -> str:
        """Nothing but outcomes unless more is asked for: a Bundle of thousands would be sent back whole."""
        return self._wanted

    def check_write(self, write: Write) -> None:
        """Demand the tenant's scope for writes and the token's for the type."""
        if self._view.refusal is not None:
            raise self._view.refusal
        with _placed(write.place):
            self._view.demand_write(write)

    def check_reference(self, type_name: str, place: str) -> None:
        """Demand that the type may be searched and read."""
        with _placed(place):
            self._view.demand_asking(type_name, smart.SEARCH + smart.READ)

    def check_referred(self, conditional: Iterable[Conditional]) -> None:
        """Record whom conditional references were found to mean: they ask as a search does."""
        asked = {one.criteria: one for one in conditional if one.type in PATIENTS_TYPES}
        self._view.note(self._actor, *map(_record_of, asked.values()))

    def check_written(self, done: Iterable[tuple[Write, Written]]) -> None:
        """Demand the right to create where something was created; record what is shown though nothing was changed."""
        told: list[Access] = []
        for write, written in done:
            if written.status == 201:
                with _placed(write.place):
                    self._view.access.demand(write.type, smart.CREATE)
            told += records_of(write, written)
        self._view.note(self._actor, *told)

    def tell_refused(self, refusal: Exception) -> None:
        """Record what the refusal of an entry told; the Bundle goes on."""
        if isinstance(refusal, Revealing) and refusal.access:
            self._view.note(self._actor, refusal.access)

    def check_read(self, entry: Entry) -> None:
        """Refuse what is no read of resources."""
        check(entry)

    def read(self, entry: Entry) -> Answer:
        """Ask the view that the entry's URL leads to, as the same caller and in the same transaction."""
        return answer_of(entry, self._request)


@contextmanager
def _placed(place: str) -> Iterator[None]:
    """Name the entry in a refusal."""
    try:
        yield
    except Forbidden as refusal:
        refusal.extra["expression"] = place
        raise


def _record_of(conditional: Conditional) -> Access:
    names = [name for name, _ in parse_qsl(conditional.criteria.partition("?")[2])]
    kind, _, fhir_id = str(conditional.holder["reference"]).partition("/")
    whose = (fhir_id,) if kind == "Patient" else ()
    return Access("search", kind, parameters=names, patients=whose, count=1)


__all__ = ["BundleViewSet"]
