"""The two suppliers of a merge: the managed one, and the one on the platform that takes its documents over."""

from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from core.actor import Actor
from core.arrays import array_literal
from core.db import needs_transaction, tenant_context
from core.errors import NotFound
from core.pipeline import Call, Statement, run
from organizations.public import tenant_named
from suppliers.company.models import SupplierProfile
from suppliers.company.states import Qualification
from suppliers.relationships.models import ManagedSupplier, Relationship


class Standing(NamedTuple):
    """How a tenant stands on the platform."""

    id: UUID
    name: str
    status: str
    environment: str
    is_supplier: bool
    managed_by: UUID | None
    merged_into: UUID | None
    legal_hold: bool


_STANDING = Statement.of(
    "SELECT n.id, n.name, n.status, n.environment, 'supplier' = ANY(n.kinds) AS is_supplier, n.managed_by_id AS managed_by,"
    " n.merged_into_id AS merged_into, n.legal_hold FROM organizations_tenant n WHERE n.id = ANY($1::uuid[])",
    row=Standing,
)


@dataclass(frozen=True, slots=True)
class Parties:
    """A buyer with the managed supplier, the supplier that takes over, its profile, and the relationships to both."""

    buyer: Standing
    managed: Standing
    row: ManagedSupplier
    into: Standing
    profile: SupplierProfile | None
    old: Relationship | None
    new: Relationship | None

    @property
    def is_qualified(self) -> bool:
        """Tell whether the supplier that takes over is active and qualified."""
        profile = self.profile
        return (
            self.into.status == "active"
            and profile is not None
            and profile.qualification_status == Qualification.QUALIFIED
        )

    @property
    def into_name(self) -> str:
        """The name of the supplier that takes over, as buyers read it."""
        return (self.profile.legal_name if self.profile else "") or self.into.name


def supplier_named(name: str) -> UUID:
    """Return the id of the tenant that staff name by its id or its slug.

    :raises NotFound: there is no such tenant.
    """
    found = tenant_named(name.strip())
    if found is None:
        raise NotFound("There is no tenant with this id or slug.")
    return found


@needs_transaction
def parties_of(actor: Actor, row: ManagedSupplier, into_id: UUID) -> Parties:
    """Read the parties of a merge; the actor's tenant, the buyer, is bound."""
    (found,) = run([Call(_STANDING, [array_literal({actor.tenant_id, row.supplier_id, into_id})])])
    standing = {one.id: one for one in found.of(Standing)}
    with tenant_context(into_id):
        profile = SupplierProfile.objects.filter(tenant_id=into_id).first()
    mine = {
        one.supplier_id: one
        for one in Relationship.objects.of(actor).filter(supplier_id__in=[row.supplier_id, into_id])
    }
    return Parties(
        standing[actor.tenant_id], standing[row.supplier_id], row, standing[into_id], profile,
        mine.get(row.supplier_id), mine.get(into_id),
    )  # fmt: skip


def merged_into(supplier_id: UUID) -> tuple[str, UUID | None]:
    """Return the state of a managed supplier's tenant, and the supplier that it was merged into."""
    (found,) = run([Call(_STANDING, [array_literal([supplier_id])])])
    standing = found.of(Standing)[0]
    return standing.status, standing.merged_into
