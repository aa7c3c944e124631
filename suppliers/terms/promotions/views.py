"""HTTP of promotions."""

from api.operations import Operation
from core.errors import Duplicate, InvalidFields, InvalidTransition, VersionConflict
from core.own_codes import to_put
from suppliers.terms.views import TermViewSet

from .actions import put_promotion
from .filters import PromotionFilters
from .models import Promotion
from .refusals import LimitBelowRedeemed
from .representations import PromotionOut
from .serializers import PromotionIn


class PromotionViewSet(TermViewSet):
    """The supplier's promotions."""

    serializer_class = PromotionOut
    filterset_class = PromotionFilters
    ordering_fields = (*TermViewSet.ordering_fields, "starts_at", "ends_at")
    operation_ids = {"update": "putPromotion"}
    operations = {
        "list": Operation("List promotions"),
        "update": Operation(
            "Put a promotion",
            "Creates it under the supplier's own code (201) or replaces it (200). Promotions come after pricing rules: the one "
            "that is best for the buyer, or all combinable ones. Each order that holds it counts once towards "
            "`max_redemptions` and `max_per_buyer`, and with all that it saves towards `budget_amount`; what is cancelled is "
            "given back. `redemptions` and `spent` are never written, and no limit may be put below them. If nothing differs, "
            "nothing is written. `archived` ends the promotion for good.",
            body=PromotionIn,
            find=to_put(Promotion),
            run=put_promotion,
            upsert=True,
            errors=(InvalidFields, VersionConflict, Duplicate, InvalidTransition, LimitBelowRedeemed),
        ),
    }
