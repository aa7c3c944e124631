"""The endpoints of locations."""

from django.http import HttpRequest, HttpResponse

from api.listing import Listing
from api.operations import Operation
from api.sorts import ORDERING_FIELDS
from api.views import ApiViewSet
from core.errors import InvalidFields, QuotaExceeded, VersionConflict
from organizations.actions.locations import (
    LocationCycle,
    LocationForbidden,
    LocationTooDeep,
    create_location,
    update_location,
)
from organizations.filters.locations import DirectoryFilters, LocationFilters
from organizations.queries.locations import WITHIN, locked_location
from organizations.representations.locations import LocationOut, PharmacyOut
from organizations.serializers.locations import LocationIn

_DIRECTORY = Listing.of(
    PharmacyOut, filterset_class=DirectoryFilters, ordering_fields=(*ORDERING_FIELDS, "name"), ordering="name"
)


class LocationViewSet(ApiViewSet):
    """The tenant's locations, and the public directory of pharmacies."""

    scope_prefix = "locations."
    serializer_class = LocationOut
    filterset_class = LocationFilters
    ordering_fields = (*ORDERING_FIELDS, "name")
    restriction = WITHIN
    also_listed = (PharmacyOut,)
    operations = {
        "list": Operation(
            "List locations",
            "The tenant's locations within the membership's reach. `directory=pharmacy` lists the pharmacies that any "
            "tenant has published, with id, name, address and opening hours.",
        ),
        "create": Operation(
            "Create a location",
            body=LocationIn,
            run=create_location,
            errors=(InvalidFields, LocationForbidden, LocationTooDeep, QuotaExceeded),
            example={"name": "North Pharmacy", "type": "pharmacy", "listed": True},
        ),
        "retrieve": Operation("Get a location"),
        "partial_update": Operation(
            "Update a location",
            body=LocationIn,
            find=locked_location,
            run=update_location,
            errors=(InvalidFields, VersionConflict, LocationCycle, LocationTooDeep, QuotaExceeded),
            example={"status": "suspended"},
        ),
    }

    def list(self, request: HttpRequest) -> HttpResponse:
        """Answer the tenant's locations, or the directory if the query asks for it."""
        if request.GET.get("directory") == "pharmacy":
            return self.list_page(listing=_DIRECTORY)
        return self.list_page()
