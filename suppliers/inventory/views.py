"""HTTP of the inventory: what is reserved of the supplier's stock."""

from api.operations import Operation
from api.views import ApiViewSet
from organizations.public import reach

from .reservations.filters import ReservationFilters
from .reservations.representations import ReservationOut

WITHIN = reach("location_id", below=True)


class InventoryReservationViewSet(ApiViewSet):
    """Reservations on the tenant's own stock."""

    family = "supplier"
    scope_prefix = "inventory:"
    serializer_class = ReservationOut
    filterset_class = ReservationFilters
    restriction = WITHIN
    operation_ids = {"list": "listStockReservations"}
    operations = {
        "list": Operation(
            "List reservations on own stock",
            "With the levels and lots that each holds. An active one whose `expires_at` is over holds nothing any more. A "
            "membership that is limited to places sees what lies there as a whole.",
        ),
    }
