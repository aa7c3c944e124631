"""The addresses of the tests' document of two parties, for either party."""

from django.urls import include, path
from rest_framework.decorators import action

from api.operations import Operation
from api.routing import Directory, Router
from api.sorts import SortBy
from api.views import ApiViewSet
from core.errors import InvalidTransition
from organizations.public import CounterpartyOnly, Party, PartyClosed, TwoParty
from tests.organizations.received.parcels import (
    PARCELS,
    LinesIn,
    NoteIn,
    ParcelIn,
    ParcelOut,
    ReceivedParcelOut,
    accept_parcel,
    create_parcel,
    deliver_parcel,
    note_parcel,
    repack_parcel,
    send_parcel,
    weigh_parcel,
)

REFUSALS = (PartyClosed, CounterpartyOnly, InvalidTransition)


class ParcelViewSet(ApiViewSet):
    """The sender's parcels."""

    family = "supplier"
    scope_prefix = "catalog:"
    serializer_class = ParcelOut
    documented = False
    operations = {
        "list": Operation("List parcels"),
        "retrieve": Operation("Get a parcel"),
        "create": Operation("Create a parcel", body=ParcelIn, run=create_parcel),
        "send": Operation("Send a parcel", find=TwoParty(PARCELS, acts=Party.OWNER), run=send_parcel, errors=REFUSALS),
        "repack": Operation(
            "Repack a parcel", body=LinesIn, find=TwoParty(PARCELS, acts=Party.OWNER), run=repack_parcel
        ),
        "weigh": Operation("Weigh a parcel", find=TwoParty(PARCELS), run=weigh_parcel, errors=REFUSALS),
        "note": Operation(
            "Note", body=NoteIn, find=TwoParty(PARCELS, acts=Party.OWNER), run=note_parcel, errors=REFUSALS
        ),
    }

    @action(detail=True, methods=["post"])
    def send(self, request, pk):
        return self.write()

    @action(detail=True, methods=["post"])
    def weigh(self, request, pk):
        return self.write()

    @action(detail=True, methods=["post"])
    def repack(self, request, pk):
        return self.write()

    @action(detail=True, methods=["post"])
    def note(self, request, pk):
        return self.write()


class ReceivedParcelViewSet(ApiViewSet):
    """The parcels that a carrier has received."""

    family = "supplier"
    scope_prefix = "catalog:"
    serializer_class = ReceivedParcelOut
    ordering_fields = (SortBy("created_at", "received_at"), "updated_at")
    documented = False
    operations = {
        "list": Operation("List received parcels"),
        "retrieve": Operation("Get a received parcel"),
        "accept": Operation(
            "Accept a parcel", find=TwoParty(PARCELS, acts=Party.OTHER), run=accept_parcel, errors=REFUSALS
        ),
        "deliver": Operation(
            "Deliver a parcel", find=TwoParty(PARCELS, acts=Party.OTHER), run=deliver_parcel, errors=REFUSALS
        ),
        "weigh": Operation("Weigh a parcel", find=TwoParty(PARCELS), run=weigh_parcel, errors=REFUSALS),
    }

    @action(detail=True, methods=["post"])
    def accept(self, request, pk):
        return self.write()

    @action(detail=True, methods=["post"])
    def deliver(self, request, pk):
        return self.write()

    @action(detail=True, methods=["post"])
    def weigh(self, request, pk):
        return self.write()


router = Router()
router.register("parcels", ParcelViewSet, basename="test-parcel")
router.register("received-parcels", ReceivedParcelViewSet, basename="test-received-parcel")
urlpatterns = [Directory([path("v1/", include(router.urls)), path("", include("config.urls"))])]
