"""Finding an agreement for a write: the caller's own draft, or the version that the action concerns.

The id in the path is the agreement's, or that of one of its versions, which prices are told by.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from uuid import UUID

from core.actor import Actor
from core.arrays import array_literal
from core.db import needs_transaction
from core.errors import Busy, InvalidTransition, NotFound
from core.model_rows import lock_call, row_of
from core.pipeline import Call, Rows, Statement, run
from organizations.public import SharedDocument, TwoParty

from .models import AGREEMENTS, AgreementDraft
from .states import ALLOWED, DRAFT, AgreementStatus, Side

_NAMED: Final = "({0}.agreement_id = $1 OR {0}.id = $1)"
# The owner comes first, as `TwoParty` reads it. Of several versions the first state of $3 decides, then the newest.
_FIND = Statement.of(
    "SELECT f.owner::text, f.id::text, f.status FROM ("
    " SELECT d.tenant_id AS owner, d.id, d.revision, 'draft' AS status FROM suppliers_agreementdraft d"
    f" WHERE d.tenant_id = $2 AND {_NAMED.format('d')}"
    " UNION ALL SELECT a.tenant_id, a.id, a.revision, a.status FROM suppliers_priceagreement a"
    f" WHERE a.tenant_id = $2 AND {_NAMED.format('a')}"
    " UNION ALL SELECT c.owner_tenant_id, c.id, c.revision, c.status FROM suppliers_receivedagreement c"
    f" WHERE c.tenant_id = $2 AND {_NAMED.format('c')}"
    ") f ORDER BY array_position($3::text[], f.status), f.revision DESC LIMIT 1"
)


class Versions(NamedTuple):
    """The versions of one agreement: whether one waits for an answer, the accepted one and the newest; 0 for none."""

    is_pending: bool
    accepted: int
    newest: int


_VERSIONS = Statement.of(
    "SELECT coalesce(bool_or(a.status = 'proposed'), false) AS is_pending,"
    " coalesce(max(a.revision) FILTER (WHERE a.status IN ('active', 'suspended')), 0) AS accepted,"
    " coalesce(max(a.revision), 0) AS newest"
    " FROM suppliers_priceagreement a WHERE a.tenant_id = $1 AND a.agreement_id = $2",
    row=Versions,
)
# Acceptances of one buyer wait for each other, so that the second sees what the first has put in force and can name it.
_LOCK = Statement.of("SELECT pg_advisory_xact_lock(hashtextextended('agreements ' || $1, 0))")

OF_DRAFTS: Final = (
    DRAFT, AgreementStatus.ACTIVE.value, AgreementStatus.SUSPENDED.value, AgreementStatus.PROPOSED.value,
)  # fmt: skip
OF_PROPOSALS: Final = (
    AgreementStatus.PROPOSED.value, AgreementStatus.ACTIVE.value, AgreementStatus.SUSPENDED.value, DRAFT,
)  # fmt: skip
OF_ACCEPTED: Final = (
    AgreementStatus.ACTIVE.value, AgreementStatus.SUSPENDED.value, AgreementStatus.PROPOSED.value, DRAFT,
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class OwnDraft:
    """A locked draft of the caller's tenant as the target of a write."""

    actor: Actor
    row: AgreementDraft

    @property
    def version(self) -> int:
        """The version that the caller's ETag shows."""
        return int(self.row.version)


Target = OwnDraft | SharedDocument


@dataclass(frozen=True, slots=True, eq=False)
class AgreementAt(TwoParty):
    """The `find` of an operation on an agreement; `order` says which version it takes, by their states."""

    order: Sequence[str] = OF_PROPOSALS
    is_serial: bool = False

    def locate(self, tenant_id: UUID, *path: Any) -> Call:
        """Return the statement that finds the version in the trip of the proof."""
        return Call(_FIND, [str(path[0]), str(tenant_id), array_literal(self.order)])

    @needs_transaction
    def __call__(self, actor: Actor, *path: Any, located: Rows) -> Target:  # type: ignore[override]  # a draft has one party
        """Lock and return the draft, or the version with its owner bound.

        :raises NotFound: the tenant has no part in such an agreement.
        :raises PartyClosed: the owner's tenant is closed.
        :raises Busy: the draft was proposed meanwhile.
        """
        if not len(located):
            raise NotFound(f"No such {AGREEMENTS.name}.")
        _, key, status = ((value or b"").decode() for value in located.row())
        if status != DRAFT:
            return TwoParty.__call__(self, actor, UUID(key), located=located)
        (found,) = run([lock_call(AgreementDraft, actor.tenant_id, UUID(key))])
        row = row_of(AgreementDraft, found)
        if row is None:  # proposed since the trip of the proof
            raise Busy
        return OwnDraft(actor, row)

    def locks_before(self, owner_id: UUID, *path: Any) -> Sequence[Call]:
        """Let acceptances of one buyer wait for each other."""
        return [serial_call(owner_id)] if self.is_serial else []


def serial_call(owner_id: UUID) -> Call:
    """Return the statement after which no other transaction numbers or accepts agreements of the buyer."""
    return Call(_LOCK, [str(owner_id)])


def versions_call(owner_id: UUID, agreement_id: UUID) -> Call:
    """Return the statement that counts the versions of an agreement, for a transaction bound to its owner."""
    return Call(_VERSIONS, [str(owner_id), str(agreement_id)])


def versions_of(found: Rows) -> Versions:
    """Return what `versions_call` has read."""
    return found.of(Versions)[0]


def side_of(target: Target) -> Side:
    """Return the side of the caller."""
    if isinstance(target, OwnDraft):
        return Side(target.row.author)
    return Side.BUYER if target.is_owner else Side.SUPPLIER


def require(target: Target, action: str) -> None:
    """Require that the state allows an action.

    :raises InvalidTransition: it does not.
    """
    state = DRAFT if isinstance(target, OwnDraft) else str(target.row.status)
    if action not in ALLOWED[state]:
        raise InvalidTransition(state=state, action=action, allowed=ALLOWED[state])
