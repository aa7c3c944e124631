"""The base of every viewset: it checks credential, rate limit, tenant and scope, then reads or writes.

A viewset declares its operations; an action that is not among them answers 403. A read is one round trip to PostgreSQL
(`api/reads.py`), a write one transaction (`api/writes.py`). The base has the standard methods; they are routed where an
operation declares them:

    class ProductViewSet(ApiViewSet):
        family = "supplier"
        scope_prefix = "catalog:"
        serializer_class = ProductOut
        filterset_class = ProductFilters
        ordering_fields = ("created_at", "updated_at", "supplier_sku")
        operations = {
            "list": Operation("List products"),
            "create": Operation("Create a product", body=ProductIn, run=create_product),
            "retrieve": Operation("Get a product"),
            "update": Operation("Replace a product", body=ProductIn, find=locked_product, run=replace_product),
            "publish": Operation("Publish a product", find=locked_product, run=publish_product),
        }

        @action(detail=True, methods=["post"])
        def publish(self, request, pk):
            return self.write()

`replace_product(actor, product, data, at)` is an action, which returns the changed object. The class attributes are
compared with DRF's in `docs/for-drf-developers.md`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from core.actor import Subject
from core.conditions import Condition
from core.errors import Forbidden, NotFound, Unauthenticated

from . import further_media, metering
from .authentication import authenticator
from .day_counts import DayCounts
from .declarations import check_attributes, check_options, completed
from .errors import MethodNotAllowed, problem_response, refusal_of
from .filters import Filters
from .listing import Listing
from .operations import Operation
from .representations import Representation
from .sorts import ORDERING_FIELDS, SortBy
from .writes import WritingViewSet

__all__ = ["ApiViewSet"]


class ApiViewSet(WritingViewSet):
    """Base of all REST viewsets; the module's docstring shows one.

    `family` decides envelope, paging, credentials and rate limit. `scope_prefix` ("catalog:"), `tenant_kind` and
    `feature` apply to every operation that names no other. `restriction` narrows every row that is read. `binds_tenant`
    False is for global tables, whose rows only `restrictions` narrow. `count_sql` is cheaper SQL for the exact total of
    the unfiltered list, within the `restriction`; the tenant is $1. `day_counts` says how its rows are counted by day. `singleton` marks one resource at its address, without an id. `declared` keeps
    the operations as they were written, before the class's attributes completed them.

    In the OpenAPI document: `documented` False leaves the view out. `tag` names another group than the address does.
    `operation_ids` names operations, by action, where the rule reads badly. `also_listed` are further representations
    that the list may hold.
    """

    family: ClassVar[str] = "organizations"
    scope_prefix: ClassVar[str] = ""
    tenant_kind: ClassVar[str] = ""
    feature: ClassVar[str] = ""
    serializer_class: type[Representation] | None = None
    filterset_class: ClassVar[type[Filters] | None] = None
    ordering_fields: ClassVar[Sequence[str | SortBy]] = ORDERING_FIELDS
    ordering: ClassVar[str] = "-created_at"
    count_sql: ClassVar[str] = ""
    day_counts: ClassVar[DayCounts | None] = None
    restriction: ClassVar[Condition | None] = None
    binds_tenant: ClassVar[bool] = True
    singleton: ClassVar[bool] = False
    documented: ClassVar[bool] = True
    tag: ClassVar[str] = ""
    operation_ids: ClassVar[Mapping[str, str]] = {}
    also_listed: ClassVar[Sequence[type[Representation]]] = ()
    operations: ClassVar[dict[str, Operation]] = {}
    declared: ClassVar[dict[str, Operation]] = {}
    listing: ClassVar[Listing | None] = None
    lookup_value_converter = "uuid"
    lookup_url_kwarg = "pk"
    media: further_media.Media | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        """Check and complete what the class declares; see `api/declarations.py`."""
        super().__init_subclass__(**options)
        check_attributes(cls, {name for kind in cls.__mro__ if kind not in ApiViewSet.__mro__ for name in vars(kind)})
        if "operations" in vars(cls):
            cls.declared = cls.operations
        if cls.declared:  # also of a subclass that changes only, say, serializer_class
            cls.listing, cls.operations = completed(cls, ApiViewSet)

    @classmethod
    def as_view(cls, actions: Any = None, **initkwargs: Any) -> Any:
        """DRF's view, for declared actions only.

        :raises ImproperlyConfigured: an action is not among the operations.
        """
        check_options(cls, ApiViewSet, initkwargs)
        if undeclared := sorted(set((actions or {}).values()) - set(cls.operations)):
            raise ImproperlyConfigured(f"{cls.__name__} declares no operation {', '.join(undeclared)}.")
        return super().as_view(actions, **initkwargs)

    # -- the standard actions, routed where they are declared ----------------------------------------------------------

    def list(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer the list."""
        return self.list_page()

    def create(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Run the action and answer the object that it created."""
        return self.write()

    def retrieve(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer one object."""
        return self.retrieve_one()

    def update(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Run the action and answer the object that it replaced."""
        return self.write()

    def partial_update(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Run the action and answer the object that it changed."""
        return self.write()

    def destroy(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Run the action."""
        return self.write()

    # -- the request's way in and out -------------------------------------------------------------------------------

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Prove the credential, count the request, run the action; turn every refusal into its answer."""
        for method in self.action_map:
            vars(self).pop(
                method, None
            )  # DRF bound the action to its own view there: a cycle that only the collector frees
        self.request = request
        self.meter = metering.Meter(request)
        subject: Subject | None = None
        try:
            handler = self._handler(request)
            if not self.operation.public:
                subject = self.subject = authenticator().subject(request)
                request.credential = subject.credential  # type: ignore[attr-defined]
                policy = self.operation.policy or self.style.policy
                self.meter.enter(subject, policy, costs=self.operation.costs)
            response = handler(request, *args, **kwargs)
            if self.operation.media:
                response.headers["Vary"] = "Accept"
        except Exception as error:  # every error becomes an answer; an unexpected one is logged and becomes a 500
            response = self._refuse(error, request, subject)
        self.meter.write(response)
        return response

    def _handler(self, request: HttpRequest) -> Callable[..., HttpResponseBase]:
        method = (request.method or "").lower()
        action = self.action_map.get("get" if method == "head" else method)
        if action is None:
            raise MethodNotAllowed(headers={"Allow": ", ".join(sorted(name.upper() for name in self.action_map))})
        self.action = action
        operation = self.operations.get(action)
        if operation is None:
            raise Forbidden("The operation is not declared.")
        self.operation = operation
        self.negotiate(request)
        handler: Callable[..., HttpResponseBase] = getattr(self, self.action)
        return handler

    def negotiate(self, request: HttpRequest) -> None:
        """Choose the media type of the answer; None is JSON.

        :raises NotAcceptable: the caller accepts none that the operation writes.
        """
        self.media = further_media.chosen(request, self.operation.media)

    def _refuse(self, error: Exception, request: HttpRequest, subject: Subject | None) -> HttpResponse:
        refusal = refusal_of(error)
        if isinstance(refusal, Unauthenticated | Forbidden | NotFound):
            authenticator().report(refusal, request, subject)
        return problem_response(refusal, request)
