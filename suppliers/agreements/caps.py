"""What orders take of the lines of agreements: counters of the owner's line and of its copy. Source: contract, supply-price.md 5 "Lines".

Whoever takes names all lines at once. `taking_calls` locks them in the order of their ids, whatever their tenant, and counts
each by one conditional UPDATE; `check_taken` reads what they answered. The copies follow by `copy_calls`, where the
lock order puts received copies: nobody waits for a copy alone, since it is counted under the lock of its owner's line. All
of them bind the tenants that they need, so that an order sends them in its own trips and binds its tenant again behind them.
Neither version nor `updated_at` of an agreement moves, so that orders of different lines never wait for each other.

What counts for a product or category and packaging is its line in the newest version that was ever accepted and has one. The
next version goes on counting there (`carry_on`), and what an order gives back goes there (`current`), so that no change of
terms fills a cap again, and an order can end after its agreement has. Whoever does both gives back before it takes: those who
accept wait for the one, and lock lines that the other has locked.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple
from uuid import UUID

from core.actor import Actor
from core.arrays import array_literal, numbers
from core.db import bind_call, needs_transaction
from core.errors import FieldError
from core.pipeline import Call, Rows, Statement, run

from .models import PriceAgreement
from .refusals import AgreementExhausted


class _Moved(NamedTuple):
    """A line, and the line of the newest accepted version that goes on counting in its place."""

    id: UUID
    now: UUID


class _Carried(NamedTuple):
    """A line of a new version whose cap is below what was taken of those before."""

    line_no: int
    consumed: int


_PER_OWNER: Final = 3  # statements: the binding, the locks, the counters
_LOCK = Statement.of(
    "SELECT l.id::text FROM suppliers_priceagreementline l WHERE l.tenant_id = $1 AND l.id = ANY($2::uuid[])"
    " ORDER BY l.id FOR NO KEY UPDATE"
)
_GIVEN = "unnest($2::uuid[], $3::bigint[]) AS g(id, quantity)"


def _take(table: str, more: str = "") -> Statement:
    """Return the statement that counts what is taken of lines, where as much is left; the lines come back."""
    return Statement.of(
        f"UPDATE {table} l SET consumed = l.consumed + g.quantity FROM {_GIVEN}"
        f" WHERE l.tenant_id = $1 AND l.id = ANY($2::uuid[]) AND l.id = g.id{more}"
        " AND (l.max_quantity IS NULL OR l.consumed <= l.max_quantity - g.quantity) RETURNING l.id::text"
    )


def _return(table: str) -> Statement:
    """Return the statement that counts what is given back to lines; the lines come back."""
    return Statement.of(
        f"UPDATE {table} l SET consumed = l.consumed - g.quantity FROM {_GIVEN}"
        " WHERE l.tenant_id = $1 AND l.id = ANY($2::uuid[]) AND l.id = g.id AND l.consumed >= g.quantity RETURNING l.id::text"
    )


_LINES, _COPIES = "suppliers_priceagreementline", "suppliers_receivedagreementline"
_TAKE, _RETURN = _take(_LINES, " AND l.in_force"), _return(_LINES)
_TAKE_COPY, _RETURN_COPY = _take(_COPIES), _return(_COPIES)


# Whoever accepts a version of the buyer waits for those who give back, and they for it; they do not wait for each other.
_SHARE = Statement.of("SELECT pg_advisory_xact_lock_shared(hashtextextended('agreements ' || $1, 0))")
_ONCE_ACCEPTED: Final = "NOT IN ('proposed', 'declined')"
_CURRENT = Statement.of(
    "SELECT DISTINCT ON (l.id) l.id, n.id AS now FROM suppliers_priceagreementline l"
    " JOIN suppliers_priceagreement a ON a.tenant_id = $1 AND a.id = l.agreement_id"
    " JOIN suppliers_priceagreement b ON b.tenant_id = $1 AND b.agreement_id = a.agreement_id"
    f" AND b.status {_ONCE_ACCEPTED}"
    " JOIN suppliers_priceagreementline n ON n.tenant_id = $1 AND n.agreement_id = b.id"
    " AND n.subject_id = l.subject_id AND n.packaging_key = l.packaging_key"
    " WHERE l.tenant_id = $1 AND l.id = ANY($2::uuid[]) ORDER BY l.id, b.revision DESC",
    row=_Moved,
)
_LOCK_VERSION = Statement.of(
    "SELECT l.id::text FROM suppliers_priceagreementline l WHERE l.tenant_id = $1 AND l.agreement_id = $2"
    " ORDER BY l.id FOR NO KEY UPDATE"
)
_SUBJECT = "coalesce({0}.product_id::text, {0}.category), coalesce({0}.packaging_id::text, '')"


def _follows(table: str, versions: str, version: str) -> str:
    """Return the condition and the rows `o` by which lines `n` of version $2 go on counting for lines of agreement $3."""
    subject = _SUBJECT.format("l")
    before = (
        f"SELECT DISTINCT ON ({subject}) l.product_id, l.category, l.packaging_id, l.consumed"
        f" FROM {versions} b JOIN {table} l ON l.tenant_id = $1 AND l.{version} = b.id"
        f" WHERE b.tenant_id = $1 AND b.agreement_id = $3 AND b.id <> $2 AND b.status {_ONCE_ACCEPTED}"
        f" ORDER BY {subject}, b.revision DESC"
    )
    return (
        f"({before}) o WHERE n.tenant_id = $1 AND n.{version} = $2 AND o.consumed > 0"
        f" AND ({_SUBJECT.format('n')}) = ({_SUBJECT.format('o')})"
    )


_OF_OWNER = _follows(_LINES, "suppliers_priceagreement", "agreement_id")
_OF_COPIES = _follows(_COPIES, "suppliers_receivedagreement", "document_id")
_TOO_SMALL = Statement.of(
    f"SELECT n.line_no, o.consumed FROM {_LINES} n, {_OF_OWNER} AND n.max_quantity < o.consumed ORDER BY n.line_no LIMIT 100",
    row=_Carried,
)
_CARRY = Statement.of(f"UPDATE {_LINES} n SET consumed = o.consumed FROM {_OF_OWNER}")
_CARRY_COPY = Statement.of(f"UPDATE {_COPIES} n SET consumed = o.consumed FROM {_OF_COPIES}")


class Taken(NamedTuple):
    """So many base units of one line of an agreement.

    `owner_id` is the tenant of the line: the buyer, or another tenant of its organization. `field` is where the request
    names them, as `lines.3`.
    """

    owner_id: UUID
    supplier_id: UUID
    line_id: UUID
    quantity: int
    field: str = ""


def taking_calls(taken: Iterable[Taken]) -> list[Call]:
    """Return the statements that lock and count what is taken; `check_taken` reads their rows."""
    return [*_calls(_TAKE, taken)]


def locking_calls(taken: Iterable[Taken]) -> list[Call]:
    """Return the statements that lock lines in their order, for whoever gives back of some and takes of others."""
    wanted = sorted({(one.line_id, one.owner_id) for one in taken})
    return [
        call
        for owner_id, mine in groupby(wanted, key=lambda one: one[1])
        for call in (bind_call(owner_id), Call(_LOCK, [str(owner_id), array_literal(line for line, _ in mine)]))
    ]


def copy_calls(taken: Iterable[Taken]) -> list[Call]:
    """Return the statements that count what is taken in the suppliers' copies."""
    return [*_copies(_TAKE_COPY, taken)]


def returning_calls(taken: Iterable[Taken]) -> list[Call]:
    """Return the statements that lock and count what is given back; `check_returned` reads their rows."""
    return [*_calls(_RETURN, taken)]


def copy_returning_calls(taken: Iterable[Taken]) -> list[Call]:
    """Return the statements that count what is given back in the suppliers' copies."""
    return [*_copies(_RETURN_COPY, taken)]


def check_taken(taken: Sequence[Taken], found: Sequence[Rows]) -> None:
    """Require that `taking_calls` has counted every line.

    :raises AgreementExhausted: names what was asked of lines that have less left, or are in force no more.
    """
    counted = _counted(found)
    message = "The agreement has less left for this line."
    short = [one for one in taken if one.line_id not in counted]
    if short:
        raise AgreementExhausted(errors=[FieldError(one.field, AgreementExhausted.code, message) for one in short])


def check_returned(taken: Sequence[Taken], found: Sequence[Rows]) -> None:
    """Require that `returning_calls` has counted every line.

    :raises RuntimeError: more is given back than was taken; a programming error.
    """
    counted = _counted(found)
    if more := [one for one in taken if one.line_id not in counted]:
        raise RuntimeError(f"more is given back than was taken: {more}")


@needs_transaction
def consume(actor: Actor, taken: Sequence[Taken]) -> None:
    """Take base units of lines of agreements, of owners and copies in one trip; the actor's tenant is bound again.

    :raises AgreementExhausted: names each line that has less left; the transaction is to be rolled back.
    """
    if not taken:
        return
    calls = taking_calls(taken)
    found = run([*calls, *copy_calls(taken), bind_call(actor.tenant_id)])
    check_taken(taken, found[: len(calls)])


class Current(NamedTuple):
    """What is to be given back and taken, each at the line that counts it now."""

    less: list[Taken]
    more: list[Taken]


@needs_transaction
def current(less: Sequence[Taken], more: Sequence[Taken] = ()) -> Current:
    """Return what is to be given back and taken, each at the line that counts it now; one of the owners stays bound.

    That is the line for the same product or category and packaging in the newest version that was ever accepted and has one,
    whatever became of the version. Nothing is given back to lines that went with their owner's tenant. Until the transaction
    ends no other version is accepted.
    """
    given = [*less, *more]
    calls: list[Call] = []
    for owner_id in sorted({one.owner_id for one in given}):
        mine = array_literal(sorted({one.line_id for one in given if one.owner_id == owner_id}))
        calls += [bind_call(owner_id), Call(_SHARE, [str(owner_id)]), Call(_CURRENT, [str(owner_id), mine])]
    now = {one.id: one.now for rows in run(calls)[_PER_OWNER - 1 :: _PER_OWNER] for one in rows.of(_Moved)}
    return Current(
        [one._replace(line_id=now[one.line_id]) for one in less if one.line_id in now],
        [one._replace(line_id=now.get(one.line_id, one.line_id)) for one in more],
    )


@needs_transaction
def give_back(actor: Actor, given: Sequence[Taken]) -> None:
    """Give base units back that `consume` has taken; the actor's tenant is bound again."""
    if not given:
        return
    taken = current(given).less
    calls = returning_calls(taken)
    found = run([*calls, *copy_returning_calls(taken), bind_call(actor.tenant_id)])
    check_returned(taken, found[: len(calls)])


@needs_transaction
def carry_on(version: PriceAgreement, before: Sequence[PriceAgreement], first: Sequence[Call]) -> list[Call]:
    """Let a version that was accepted go on counting where those accepted before it stood, even if they have ended.

    Return the statements for the buyer's lines. Those of the copy are run, since both are counted under these locks: nobody
    takes of versions but of the one in force, which is among the locked ones `before`. `first` are statements to be sent in
    the same trip, before it.

    :raises AgreementExhausted: names lines whose cap is below what was taken already.
    """
    own, supplier = str(version.tenant_id), str(version.supplier_tenant_id)
    if version.revision == 1:
        if first:
            run(first)
        return []
    both = [str(version.id), str(version.agreement_id)]
    locked = [bind_call(version.tenant_id), *(Call(_LOCK_VERSION, [own, str(one.id)]) for one in before)]
    copied = [bind_call(version.supplier_tenant_id), Call(_CARRY_COPY, [supplier, *both])]
    found = run([*first, *locked, Call(_TOO_SMALL, [own, *both]), *copied])
    _check_carried(found[len(first) + len(locked)])
    return [Call(_CARRY, [own, *both])]


def _check_carried(found: Rows) -> None:
    """Require that no line of a new version has a cap below what was taken of it before.

    :raises AgreementExhausted: names the first hundred lines.
    """
    errors = [
        FieldError(
            f"lines.{one.line_no - 1}", AgreementExhausted.code, f"{one.consumed} base units were taken already."
        )
        for one in found.of(_Carried)
    ]
    if errors:
        raise AgreementExhausted(errors=errors)


def _calls(statement: Statement, taken: Iterable[Taken]) -> Iterator[Call]:
    """Yield the statements over owners' lines, in the order of the lines' ids: `_PER_OWNER` for each run of one owner."""
    wanted = sorted(_summed((one.owner_id, one.line_id, one.quantity) for one in taken), key=lambda one: one[1])
    for owner_id, mine in groupby(wanted, key=lambda one: one[0]):
        given = _given(owner_id, mine)
        yield from (bind_call(owner_id), Call(_LOCK, given[:2]), Call(statement, given))


def _copies(statement: Statement, taken: Iterable[Taken]) -> Iterator[Call]:
    """Yield the statements over the copies' lines, supplier by supplier."""
    wanted = sorted(_summed((one.supplier_id, one.line_id, one.quantity) for one in taken))
    for supplier_id, mine in groupby(wanted, key=lambda one: one[0]):
        yield from (bind_call(supplier_id), Call(statement, _given(supplier_id, mine)))


def _summed(asked: Iterable[tuple[UUID, UUID, int]]) -> Iterator[tuple[UUID, UUID, int]]:
    """Yield tenant, line and quantity once for each line: two lines of an order may take of the same one."""
    sums: dict[tuple[UUID, UUID], int] = defaultdict(int)
    for tenant_id, line_id, quantity in asked:
        sums[tenant_id, line_id] += quantity
    return ((tenant_id, line_id, quantity) for (tenant_id, line_id), quantity in sums.items())


def _given(tenant_id: UUID, asked: Iterable[tuple[UUID, UUID, int]]) -> list[str]:
    rows = list(asked)
    return [str(tenant_id), array_literal(line for _, line, _ in rows), numbers(quantity for *_, quantity in rows)]


def _counted(found: Sequence[Rows]) -> set[UUID]:
    """Return the lines that the counting statements have answered."""
    return {
        UUID((rows.value(n) or b"").decode()) for rows in found[_PER_OWNER - 1 :: _PER_OWNER] for n in range(len(rows))
    }
