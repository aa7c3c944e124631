"""HTTP of the marketplace: a supplier's offers."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from rest_framework.decorators import action

from api.operations import Operation
from api.views import ApiViewSet
from core.errors import InvalidFields, InvalidTransition, VersionConflict
from suppliers.catalog.refusals import FieldLocked, ModerationHold

from .actions import create_offer, locked_offer, publish_offer, replace_offer, set_visibility, unpublish_offer
from .filters import OfferFilters
from .refusals import OfferExists, OfferIncomplete
from .representations import OfferOut
from .serializers import OfferCreateIn, OfferIn, VisibilityIn


class OfferViewSet(ApiViewSet):
    """What the supplier offers, and to whom."""

    family = "supplier"
    scope_prefix = "marketplace:"
    tenant_kind = "supplier"
    feature = "marketplace"
    serializer_class = OfferOut
    filterset_class = OfferFilters
    operation_ids = {"visibility": "setOfferVisibility"}
    operations = {
        "list": Operation("List offers"),
        "create": Operation(
            "Draft an offer",
            "Of one packaging of a product. Nobody sees it before it is published and its visibility is set: a new offer "
            "is private.",
            body=OfferCreateIn,
            run=create_offer,
            errors=(InvalidFields,),
        ),
        "retrieve": Operation("Get an offer", "`checks` says what publishing needs, and whether it is there."),
        "update": Operation(
            "Replace an offer",
            "What the body leaves out takes its default; without `status` the status stays, `archived` ends the offer. "
            "Product and packaging stay once it was published; a published offer keeps a price, its own or that of a list.",
            body=OfferIn,
            find=locked_offer,
            run=replace_offer,
            errors=(InvalidFields, VersionConflict, InvalidTransition, FieldLocked, ModerationHold, OfferIncomplete),
        ),
        "publish": Operation(
            "Publish an offer",
            "Its audience sees it from now on. One offer of a packaging is live at a time. What the platform holds (`hold`) "
            "fails the check `not_held`.",
            find=locked_offer,
            run=publish_offer,
            errors=(VersionConflict, InvalidTransition, OfferIncomplete, OfferExists),
        ),
        "unpublish": Operation(
            "Hide an offer",
            "Open orders and reservations go on.",
            find=locked_offer,
            run=unpublish_offer,
            errors=(VersionConflict, InvalidTransition),
        ),
        "visibility": Operation(
            "Say who may see an offer",
            "`public` is everybody but the excluded tenants, `selected` the named ones, `private` nobody. `stock_display` "
            "is how they are told of a number of packs.",
            scope="marketplace:write",
            body=VisibilityIn,
            find=locked_offer,
            run=set_visibility,
            errors=(InvalidFields, VersionConflict, InvalidTransition),
        ),
    }

    @action(detail=True, methods=["post"])
    def publish(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Publish the offer."""
        return self.write()

    @action(detail=True, methods=["post"])
    def unpublish(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Hide the offer."""
        return self.write()

    @action(detail=True, methods=["put"])
    def visibility(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Set the visibility."""
        return self.write()
