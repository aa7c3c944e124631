"""The endpoints of API keys."""

from dataclasses import replace

from api.operations import Operation
from api.sorts import ORDERING_FIELDS
from api.views import ApiViewSet
from core.errors import InvalidFields, InvalidTransition, NotFound, QuotaExceeded
from organizations.actions.keys import issue_key, locked_key, revoke_key
from organizations.filters.keys import ApiKeyFilters
from organizations.grants import GrantBeyondOwn, MakersMembership
from organizations.policies import MachineScope, ScopeEscalation
from organizations.representations.keys import ApiKeyOut, NewApiKeyOut, NewSupplierApiKeyOut, SupplierApiKeyOut
from organizations.serializers.keys import ApiKeyIn, SupplierApiKeyIn

MANAGE = "apikeys.manage"


class ApiKeyViewSet(ApiViewSet):
    """The tenant's API keys."""

    operation_ids = {"create": "createApiKey"}
    serializer_class = ApiKeyOut
    filterset_class = ApiKeyFilters
    ordering_fields = (*ORDERING_FIELDS, "name", "expires_at")
    operations = {
        "list": Operation("List API keys", scope=MANAGE),
        "create": Operation(
            "Create or rotate an API key",
            "With `replaces` the new key is the successor of another, which still works for `overlap_hours`. Only this "
            "answer holds the key itself. The key has the locations of its maker and ends no later than its maker's membership.",
            scope=MANAGE,
            body=ApiKeyIn,
            answer=NewApiKeyOut,
            run=issue_key,
            secrets=("api_key",),
            errors=(
                InvalidFields,
                NotFound,
                InvalidTransition,
                ScopeEscalation,
                GrantBeyondOwn,
                MakersMembership,
                MachineScope,
                QuotaExceeded,
            ),
            example={"name": "Warehouse system", "partner": "Acme ERP", "roles": ["supplier_integration"]},
        ),
        "destroy": Operation(
            "Revoke an API key",
            "The key stops working at once.",
            scope=MANAGE,
            find=locked_key,
            run=revoke_key,
            errors=(InvalidTransition, ScopeEscalation, GrantBeyondOwn, MakersMembership),
        ),
    }


class SupplierApiKeyViewSet(ApiKeyViewSet):
    """The same keys by the address of the supplier's own interface, for its administrators."""

    family = "supplier"
    tenant_kind = "supplier"
    tag = "Supplier"
    operation_ids = {
        "list": "listSupplierApiKeys",
        "create": "createSupplierApiKey",
        "destroy": "revokeSupplierApiKey",
    }
    serializer_class = SupplierApiKeyOut
    operations = {
        name: replace(
            one,
            scope="suppliers:keys",
            answer=NewSupplierApiKeyOut if one.answer else None,
            body=SupplierApiKeyIn if one.body else None,
        )
        for name, one in ApiKeyViewSet.declared.items()
    }
