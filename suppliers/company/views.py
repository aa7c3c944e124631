"""HTTP of the supplier's profile."""

from django.http import HttpRequest, HttpResponse

from api.operations import Operation
from api.views import ApiViewSet
from core.errors import InvalidFields, VersionConflict

from .actions import update_profile
from .queries import locked_profile
from .representations import SupplierProfileOut
from .serializers import BODY_BYTES, SupplierProfileIn


class SupplierProfileViewSet(ApiViewSet):
    """The supplier that the caller belongs to."""

    family = "supplier"
    scope_prefix = "suppliers:"
    tenant_kind = "supplier"
    tag = "Supplier"
    singleton = True
    serializer_class = SupplierProfileOut
    operation_ids = {"retrieve": "getSupplierProfile", "partial_update": "updateSupplierProfile"}
    operations = {
        "retrieve": Operation(
            "Get the own profile",
            "As long as nothing is stored, name and country are those of the tenant. Of the bank account only the last four "
            "characters are shown.",
        ),
        "partial_update": Operation(
            "Update the own profile",
            "Each member that is named replaces what stands there, lists as a whole; of `order_settings` what is left out "
            "stays. A licence is known by its type and number: one that changes, a new one, and another bank account have to be "
            "verified by the platform's staff. Its `file_id` names a file of the purpose `certificate` that is ready, and that "
            "cannot be deleted from then on. If nothing differs, nothing is written.",
            body=SupplierProfileIn,
            body_limit=BODY_BYTES,
            find=locked_profile,
            run=update_profile,
            errors=(InvalidFields, VersionConflict),
        ),
    }

    def retrieve(self, request: HttpRequest) -> HttpResponse:
        """Answer the profile of the tenant that the request is bound to."""
        return self.retrieve_one(self._tenant_id())
