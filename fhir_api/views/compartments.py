"""Search in a compartment: `[base]/Patient/[id]/Observation`, `…/*`. Source: R4 compartmentdefinition.html, http.html#vsearch."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from django.http import HttpRequest, HttpResponse

from core.errors import Gone, NotFound, PlatformError
from fhir_api import smart
from fhir_api.access.records import Access
from fhir_api.compartments import types_of
from fhir_api.search import run_search
from fhir_api.search.control import EVERYTHING
from fhir_api.search.found import Found
from fhir_api.store import Name, NoSuchResource

from .base import check_type, reading
from .instances import check_name
from .searches import SearchViewSet, pairs_of


class NotInCompartment(NotFound):
    """R4 puts resources of this type into no compartment of this kind, so that there is no such address."""

    code = "not_in_compartment"
    title = "The type is never in this compartment."


class CompartmentViewSet(SearchViewSet):
    """The search of a type, or of all types, narrowed to one compartment."""

    operations = {"search_in": reading("Search resources of a compartment")}

    def search_in(self, request: HttpRequest, kind: str, fhir_id: str, type_name: str) -> HttpResponse:
        """Answer as the search of the type does; `*` stands for all types of the compartment."""
        searched = "" if type_name == EVERYTHING else type_name
        return self._answer(lambda: self._found_in((kind, fhir_id), searched))

    def _found_in(self, whose: Name, type_name: str) -> bytes:
        read = Access("search", type_name)
        try:
            check_name(*whose)
            self._check_member(whose[0], type_name)
            if type_name:
                self._within.demand(type_name, smart.SEARCH)
            if whose != ("Patient", self._within.patient):  # that this one exists, the token says itself
                self._within.demand(whose[0], smart.READ)
            asked = replace(self._asked(type_name, pairs_of(self.request)), compartment=whose)
            return run_search(asked, self._trip, partial(self._note_in, whose[0], read))
        except (NoSuchResource, Gone) as refusal:
            self.note_absent(Access("search", *whose), refusal)
            raise
        except PlatformError:
            self._trip(())  # first say who may not ask at all
            raise

    def _note_in(
        self, kind: str, read: Access, names: Sequence[str], asked: Sequence[str], found: Sequence[Found]
    ) -> None:
        """Write the record of a search, which says that it was one of a compartment."""
        self._note(read, [*names, f"_compartment:{kind}"], asked, found)

    def _check_member(self, kind: str, type_name: str) -> None:
        """Refuse a type whose resources are never in the compartment.

        :raises UnknownType, NotInCompartment: as said.
        """
        if type_name and check_type(type_name) not in types_of(kind):
            text = f"In the compartment of a {kind} are {', '.join(types_of(kind))}."
            raise NotInCompartment(text, issue_type="not-supported")
