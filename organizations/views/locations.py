"""HTTP of places."""

from typing import ClassVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from api.permissions import Operation
from api.views import ApiViewSet
from api.writing import Command
from core.errors import InvalidFields, NotFound, QuotaExceeded, VersionConflict
from organizations.actions import locations as actions
from organizations.models import Location
from organizations.queries import locations as queries
from organizations.serializers.locations import LocationIn
from organizations.shapes.locations import LOCATION, LOCATIONS, PHARMACIES


class LocationViewSet(ApiViewSet):
    """Places of the tenant, and the directory of pharmacies."""

    family = "organizations"
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
        return self.page(queries.WITHIN)

    def create(self, request: HttpRequest) -> HttpResponse:
        """Add a place."""

        def work(command: Command) -> Location:
            return actions.create_location(actor=command.actor, data=command.data, at=command.at)

        return self.write(work)

    def retrieve(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Answer one place."""
        return self.one(pk, extra=queries.WITHIN)

    def partial_update(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Change fields of a place."""

        def work(command: Command) -> Location:
            return actions.update_location(
                actor=command.actor, location=command.target, changes=command.data, at=command.at
            )

        return self.write(work, find=lambda actor: queries.locked_location(actor, pk))
