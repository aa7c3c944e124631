"""What a client wants done to one resource, and what became of it."""

from dataclasses import dataclass

from core.errors import Conflict, Malformed, NotFound, PreconditionFailed, Unprocessable

from .access.records import Revealing
from .outcomes import Issue
from .patching import Patch
from .resources import Json
from .smart import READ, SEARCH
from .store import Name, Version
from .store.models import Method


@dataclass(frozen=True, slots=True)
class Write:
    """One write. `criteria` is the query of a conditional interaction: If-None-Exist of POST, `?identifier=…` of others.

    `projected` tells that the app which keeps the resource writes it, so that nobody is refused for its sake. `validated`
    tells that the resource keeps the rules of FHIR, so that they are not gone through again.

    `if_match` are the versions one of which must be the current one, `must_exist` is `If-Match: *`, `create_only`
    `If-None-Match: *`. `place` stands before the expressions of issues: "Bundle.entry[3]".
    """

    method: Method
    type: str
    fhir_id: str = ""
    criteria: str = ""
    resource: Json | None = None
    patch: Patch | None = None
    if_match: tuple[int, ...] = ()
    create_only: bool = False
    place: str = ""
    must_exist: bool = False
    projected: bool = False
    validated: bool = False

    @property
    def asks(self) -> str:
        """The interactions, beside its own, whose answers it would tell: criteria find, a test compares."""
        if self.criteria:
            return SEARCH + READ
        return READ if self.patch is not None and self.patch.compares else ""


@dataclass(frozen=True, slots=True)
class Addressed:
    """A write whose condition was answered, so that it is known whom it concerns.

    `fhir_id` is "" where a conditional delete found nothing; one that found several has an address for each. `matched`
    tells that the condition found the resource, `version` in which version, where that must still be the current one;
    `fresh` that its id was made just now, so that nobody else can hold it.
    """

    write: Write
    fhir_id: str
    matched: bool = False
    fresh: bool = False
    version: int = 0

    @property
    def name(self) -> Name:
        """Type and id."""
        return self.write.type, self.fhir_id

    @property
    def creates(self) -> bool:
        """Whether this is a create whose condition found nothing, or that has none."""
        return self.write.method is Method.POST and not self.matched


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a write. `version` is None where nothing was there; `changed` False where nothing had to be done.

    `ended` are the last versions of what a conditional delete ended; of several there is no `version`. `warnings` tell what
    the tenant only wants to be warned of.
    """

    status: int
    version: Version | None
    changed: bool
    ended: tuple[Version, ...] = ()
    warnings: tuple[Issue, ...] = ()


class NoMatch(Revealing, NotFound):
    """The criteria of a conditional patch find no resource."""

    code = "no_match"
    title = "No resource matches the criteria."


class MultipleMatches(Revealing, PreconditionFailed):
    """The criteria of a conditional interaction find more than one resource. Source: R4 http.html#cond-update."""

    code = "multiple_matches"
    title = "More than one resource matches the criteria."


class TooManyMatches(MultipleMatches):
    """The criteria of a conditional delete find more resources than its `_count` allows. Source: R4 http.html#cdelete."""

    code = "too_many_matches"
    title = "More resources match the criteria than `_count` allows to delete."


class StaleVersion(PreconditionFailed):
    """If-Match names another version than the current one. Source: R4 http.html#concurrency."""

    code = "version_conflict"
    title = "The resource was changed since it was read."


class AlreadyExists(PreconditionFailed):
    """If-None-Match: * was sent for a resource that exists."""

    code = "already_exists"
    title = "The resource exists."


class IdMismatch(Malformed):
    """The id in the body is not that of the resource which the URL or the criteria name."""

    code = "id_mismatch"
    title = "The id in the body differs."


class IdTaken(Conflict):
    """The criteria match nothing, and a resource with the body's id exists that does not meet them."""

    code = "id_taken"
    title = "The id belongs to a resource that does not match the criteria."


class NamedTwice(Malformed):
    """Two writes of one transaction concern the same resource. Source: R4 http.html#trules."""

    code = "resource_named_twice"
    title = "A resource may be changed once in one transaction."


class Subsetted(Unprocessable):
    """The resource is marked as a part of itself, so that storing it would lose the rest."""

    code = "subsetted"
    title = "A resource tagged SUBSETTED is not stored."


class ReferenceNotFound(Unprocessable):
    """A reference names a resource of this server that does not exist; the tenant's policy demands that it does."""

    code = "reference_not_found"
    title = "A referenced resource does not exist."


class StillReferenced(Conflict):
    """Other resources refer to the one that shall be deleted; the tenant's policy forbids it."""

    code = "still_referenced"
    title = "The resource is referenced by others."


class TooManyValues(Unprocessable):
    """A resource has more values to be found by than one write may index."""

    code = "too_many_values"
    title = "The resource has too many values that searches look at."
