"""HTTP of places."""

from typing import ClassVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from api.filters import Condition
from api.permissions import Operation
from api.views import ApiViewSet
from api.writing import Command
from core.errors import InvalidFields, NotFound, QuotaExceeded, VersionConflict
from core.row_security import BOUND
from organizations.actions import locations as actions
from organizations.models import Location
from organizations.queries import locations as queries
from organizations.serializers.locations import LocationIn
from organizations.shapes.locations import LOCATION, LOCATIONS, PHARMACIES

# A read asks before the actor is known, in the same round trip; so the membership's locations are looked up by it.
_ALLOWED = (
    f"(SELECT m.location_ids FROM organizations_membership m WHERE m.tenant_id = {BOUND} AND m.status = 'active'"
    " AND (m.user_id = {0}::uuid OR m.service_account_id = {0}::uuid))"
)
_WITHIN = f'(cardinality({_ALLOWED}) = 0 OR t."id" = ANY({_ALLOWED}::uuid[]))'


class LocationViewSet(ApiViewSet):
    """Places of the tenant, and the directory of pharmacies."""

    family = "organizations"
    also_listed = (PHARMACIES.shape,)
    operations: ClassVar = {
        "list": Operation(
            scope="locations.read",
            summary="List locations",
            description="The tenant's places within the membership's reach; `directory=pharmacy` lists the pharmacies of "
            "any tenant that publish themselves, with id, name, address and opening hours.",
            listing=LOCATIONS,
        ),
        "create": Operation(
            scope="locations.write",
            summary="Create a location",
            body=LocationIn,
            shape=LOCATION,
            status=201,
            errors=(InvalidFields, actions.LocationForbidden, actions.LocationTooDeep, QuotaExceeded),
            example={"name": "North Pharmacy", "type": "pharmacy", "listed": True},
        ),
        "retrieve": Operation(scope="locations.read", summary="Get a location", shape=LOCATION, errors=(NotFound,)),
        "partial_update": Operation(
            scope="locations.write",
            summary="Update a location",
            body=LocationIn,
            partial=True,
            shape=LOCATION,
            errors=(
                NotFound,
                InvalidFields,
                VersionConflict,
                actions.LocationCycle,
                actions.LocationTooDeep,
                QuotaExceeded,
            ),
            example={"status": "suspended"},
        ),
    }

    def list(self, request: HttpRequest) -> HttpResponse:
        """Answer the tenant's places, or the directory."""
        if request.GET.get("directory") == "pharmacy":
            return self.page(listing=PHARMACIES)
        return self.page(self._within())

    def create(self, request: HttpRequest) -> HttpResponse:
        """Add a place."""

        def work(command: Command) -> Location:
            return actions.create_location(actor=command.actor, data=command.data, at=command.at)

        return self.write(work)

    def retrieve(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Answer one place."""
        return self.one(pk, extra=self._within())

    def partial_update(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Change fields of a place."""

        def work(command: Command) -> Location:
            return actions.update_location(
                actor=command.actor, location=command.target, changes=command.data, at=command.at
            )

        return self.write(work, find=lambda actor: queries.locked_location(actor, pk))

    def _within(self) -> Condition:
        return Condition(_WITHIN, (str(self.subject.id),))
