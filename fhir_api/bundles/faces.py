"""What a Bundle needs from the face that received it: rights, reads, and how much shall be answered."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from fhir_api.intentions import Write, Written

from .answers import Answer
from .entries import Entry
from .links import Conditional


class Face(Protocol):
    """The request that the Bundle came in with; commands have one without limits."""

    @property
    def wanted(self) -> str:
        """What of the resources is answered: minimal, representation or OperationOutcome."""
        ...

    def check_write(self, write: Write) -> None:
        """Refuse what the credential may not do.

        :raises core.errors.Forbidden: as said.
        """
        ...

    def check_reference(self, type_name: str, place: str) -> None:
        """Refuse a conditional reference to a type that the credential may not search.

        :raises core.errors.Forbidden: as said.
        """
        ...

    def check_referred(self, conditional: Iterable[Conditional]) -> None:
        """Record what conditional references of patients' types were found to mean."""
        ...

    def tell_refused(self, refusal: Exception) -> None:
        """Record what the refusal of an entry told, where the Bundle goes on without it."""
        ...

    def check_written(self, done: Iterable[tuple[Write, Written]]) -> None:
        """Refuse an update that turned out to be a create, and record what is shown though nothing was changed.

        :raises core.errors.Forbidden: the credential may not create.
        """
        ...

    def check_read(self, entry: Entry) -> None:
        """Refuse a read that no Bundle may hold.

        :raises core.errors.PlatformError: as said.
        """
        ...

    def read(self, entry: Entry) -> Answer:
        """Answer a read; a refusal is an answer too."""
        ...


@dataclass(frozen=True, slots=True)
class Platform:
    """The platform itself, in commands: it may do everything and reads nothing."""

    wanted: str = "minimal"

    def check_write(self, write: Write) -> None:
        """Refuse nothing."""

    def check_reference(self, type_name: str, place: str) -> None:
        """Refuse nothing."""

    def check_referred(self, conditional: Iterable[Conditional]) -> None:
        """Record nothing."""

    def tell_refused(self, refusal: Exception) -> None:
        """Record nothing."""

    def check_written(self, done: Iterable[tuple[Write, Written]]) -> None:
        """Refuse nothing."""

    def check_read(self, entry: Entry) -> None:
        """Refuse nothing."""

    def read(self, entry: Entry) -> Answer:
        """Answer nothing."""
        return Answer(200)
