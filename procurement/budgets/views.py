"""HTTP of budgets."""

from typing import ClassVar

from api.operations import Operation
from api.sorts import ORDERING_FIELDS
from api.views import ApiViewSet
from core.errors import Duplicate, FieldLocked, InvalidFields, VersionConflict
from core.own_codes import to_put

from .actions import put_budget
from .filters import BudgetFilters
from .models import Budget
from .refusals import BudgetExceeded
from .representations import BudgetOut
from .serializers import BudgetIn


class BudgetViewSet(ApiViewSet):
    """The budgets of a buyer."""

    family = "procurement"
    tag = "Budgets"
    scope_prefix = "procurement."
    tenant_kind = "buyer"
    feature = "procurement"
    serializer_class = BudgetOut
    filterset_class = BudgetFilters
    ordering_fields = (*ORDERING_FIELDS, "code", "name")
    lookup_url_kwarg = "code"
    lookup_value_converter = "str"
    operation_ids: ClassVar = {"update": "putBudget"}
    operations: ClassVar[dict[str, Operation]] = {
        "list": Operation(
            "List budgets",
            "With what orders have committed and approved invoices have spent of each. These amounts move neither `version` "
            "nor `updated_at`.",
            errors=(InvalidFields,),
        ),
        "update": Operation(
            "Put a budget",
            "Creates it under the buyer's own code (201) or replaces it (200). An order that names it commits its gross when "
            "it is submitted; approved invoices spend it. With the enforcement `hard` an order beyond the amount is refused, "
            "with `warn` it goes on. The amount is not lowered below what is committed and spent, and the currency stays "
            "while something is. If nothing differs, nothing is written. With `If-None-Match: *` a budget is only created.",
            scope="procurement.approve",
            body=BudgetIn,
            find=to_put(Budget),
            run=put_budget,
            upsert=True,
            errors=(InvalidFields, VersionConflict, Duplicate, FieldLocked, BudgetExceeded),
        ),
    }

    def location(self, key: object, status: int) -> str:
        """The address of the budget itself. Source: contract, supply-price.md 1 "PUT by code"."""
        return str(self.request.path) if status == 201 else ""
