"""The refusals that an operation can answer: shared ones follow from rules, its own are in `Operation.errors`."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from api import (
    body,
    filters,
    idempotency,
    page_numbers,
    permissions,
    preconditions,
    serializers,
    shapes,
    sorts,
    transport,
)
from api.authentication import InvalidTenantHeader, authenticator
from api.errors import (
    NotAcceptable,
    RouteNotFound,
    TookTooLong,
    UnsupportedCoding,
    UnsupportedMediaType,
    status_of,
)
from api.families import FAMILIES, CredentialKind, CredentialNotAccepted
from api.metering import RateLimited
from api.operations import Operation
from core.cursors import InvalidCursor
from core.errors import (
    Busy,
    Conflict,
    Duplicate,
    Forbidden,
    InvalidFields,
    Malformed,
    NotFound,
    TooLarge,
    Unavailable,
    VersionConflict,
)
from core.step_up import StepUpRequired

from .components import Components, Schema
from .naming import camel
from .problems import PHRASES, Refusal, problem_response

UNREADABLE = (
    body.InvalidJson,
    body.DuplicateKey,
    body.NulCharacter,
    body.LoneSurrogate,
    body.NestingTooDeep,
    body.NumberOutOfRange,
    body.NotAnObject,
)


@dataclass(frozen=True, slots=True)
class Situation:
    """The properties that decide which shared refusals an operation has."""

    declared: Operation
    method: str
    path: str
    etag: bool
    family: str

    @property
    def writes(self) -> bool:
        """Tell whether the operation changes something."""
        return self.method != "GET"

    @property
    def listed(self) -> bool:
        """Tell whether the answer is a page of a list."""
        return self.declared.listing is not None or self.declared.items is not None

    @property
    def has_target(self) -> bool:
        """Tell whether the path names one object."""
        return "{" in self.path

    @property
    def takes_keys(self) -> bool:
        """Tell whether an API key is accepted."""
        return CredentialKind.API_KEY in FAMILIES[self.family].styles or bool(self.declared.supplier_scope)

    @property
    def tenanted(self) -> bool:
        """Tell whether the operation runs in a tenant."""
        return not self.declared.public and self.declared.tenant != "none"


def refusals(situation: Situation) -> list[Refusal]:
    """Return every class of refusal that the operation can answer, shared ones first."""
    found = [*_of_requests(situation), *_of_callers(situation), *_of_states(situation), *situation.declared.errors]
    return list(dict.fromkeys(found))


def _of_requests(situation: Situation) -> Iterator[Refusal]:
    declared = situation.declared
    yield from (Malformed, transport.DuplicateHeader, transport.HeaderNotAscii, NotAcceptable)
    if situation.listed:
        yield from (InvalidFields, page_numbers.InvalidPage, sorts.UnknownSort, InvalidCursor)
    if situation.listed or _reads_fields(declared):
        yield from (shapes.UnknownField, shapes.UnknownInclude)
    if not declared.public and declared.tenant != "none":
        yield from (filters.UnknownParameter, filters.DuplicateParameter, body.NulCharacter, body.LoneSurrogate)
    if situation.writes:
        yield from (*UNREADABLE, TooLarge, transport.RequestTimedOut, UnsupportedMediaType, UnsupportedCoding)
    if declared.body is not None:
        yield from (InvalidFields, serializers.UnknownBodyField)
    if situation.writes and situation.tenanted:
        yield from (idempotency.InvalidKey, idempotency.InProgress, idempotency.KeyReused)
    yield from (RateLimited, Unavailable, TookTooLong, transport.Overloaded)


def _reads_fields(declared: Operation) -> bool:
    return declared.chooses or (declared.shape is not None and declared.status != 204)


def _of_callers(situation: Situation) -> Iterator[Refusal]:
    if situation.declared.public:
        return
    yield from authenticator().credential_refusals
    if situation.tenanted:
        yield InvalidTenantHeader
        yield from authenticator().tenant_refusals
    if not situation.takes_keys or situation.declared.supplier_scope:
        yield CredentialNotAccepted
    for kind, demanded in _demands(situation.declared).items():
        if demanded:
            yield kind


def _demands(declared: Operation) -> dict[Refusal, bool]:
    return {
        Forbidden: declared.tenant == "optional",
        permissions.InsufficientScope: bool(declared.scope or declared.any_scope),
        permissions.NotASupplier: declared.kind not in (None, "", permissions.BUYER),
        permissions.NotABuyer: declared.kind == permissions.BUYER,
        permissions.FeatureNotEnabled: bool(declared.feature or declared.supplier_scope),
        permissions.UserRequired: declared.user_only,
        StepUpRequired: bool(declared.step_up_seconds),
    }


def _of_states(situation: Situation) -> Iterator[Refusal]:
    if situation.has_target:
        yield from (NotFound, RouteNotFound)
    if situation.writes:
        yield from (Busy, Conflict, Duplicate)
    if situation.writes and situation.has_target and situation.tenanted:
        yield from (VersionConflict, preconditions.InvalidPrecondition)


def refusal_responses(situation: Situation, components: Components) -> dict[str, Schema]:
    """Return the responses of all refusals, by status; a status without refusals of the operation's own is shared."""
    shared = {kind.code for kind in refusals(_without_own(situation))}
    by_status: dict[int, list[Refusal]] = {}
    for kind in refusals(situation):
        by_status.setdefault(status_of(kind), []).append(kind)
    found: dict[str, Schema] = {}
    for status, kinds in sorted(by_status.items()):
        response = problem_response(status, kinds, components)
        own = any(kind.code not in shared for kind in kinds)
        found[str(status)] = response if own else components.response(_shared_name(status, situation), response)
    return found


def _without_own(situation: Situation) -> Situation:
    return replace(situation, declared=replace(situation.declared, errors=()))


def _shared_name(status: int, situation: Situation) -> str:
    """Return the name of a shared response: what distinguishes it, then the status in words."""
    declared = situation.declared
    marks: list[str] = []
    if status in (400, 409):
        marks.append("Write" if situation.writes else "List" if situation.listed else "Read")
    if status == 400:
        marks += ["Fields"] * (_reads_fields(declared) and not situation.listed)
        marks += ["Body"] * (declared.body is not None)
    if status == 409 or (status == 400 and situation.writes):
        marks += ["Target"] * situation.has_target
    if status == 403:
        marks += [camel(declared.kind or ""), "Unscoped" * (not (declared.scope or declared.any_scope))]
        marks += ["Person" * declared.user_only, "StepUp" * bool(declared.step_up_seconds)]
        marks += ["Bearer" * (not situation.takes_keys), "BothSides" * bool(declared.supplier_scope)]
        marks += ["AnyTenant" * (declared.tenant == "optional"), camel(declared.feature or "")]
    if status in (400, 403, 409):
        marks += ["Public" if declared.public else "" if situation.tenanted else "TenantFree"]
    return "".join(marks) + PHRASES[status]
