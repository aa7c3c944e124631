"""What a viewset, an operation or a representation declares wrongly is an error when it is made, never a surprise later."""

from typing import Any

import django_filters
import pytest
from django.core.exceptions import ImproperlyConfigured
from rest_framework import mixins, serializers
from rest_framework.decorators import action
from rest_framework.permissions import BasePermission
from rest_framework.viewsets import ModelViewSet

from api.declarations import _ELSEWHERE
from api.operations import Operation
from api.representations import Representation
from api.routing import Router
from api.serializers import StrictSerializer
from api.sorts import SortBy
from api.views import ApiViewSet
from suppliers.catalog.models import Category, Product
from suppliers.catalog.representations import PackagingOut


class DenyAll(BasePermission):
    def has_permission(self, request: Any, view: Any) -> bool:
        return False


class ShelfOut(Representation):
    """A category, as these tests answer it."""

    class Meta:
        model = Category
        fields = ("id", "code", "name", "created_at", "updated_at", "version")


class ShelfIn(StrictSerializer):
    name = serializers.CharField()


class Shelves(ApiViewSet):
    """Base of the viewsets below; sound, and without operations of its own."""

    scope_prefix = "catalog:"
    serializer_class = ShelfOut


def create_shelf(actor, data, at):
    """Stand for an action: nobody calls it here."""


def rename_shelf(actor, shelf, data, at):
    """Stand for an action on a target."""


def close_shelf(actor, shelf, at):
    """Stand for an action that takes no body."""


def find_shelf(actor, pk):
    """Stand for a look-up."""


def make(base: type = Shelves, /, **members: Any) -> type:
    """Make a viewset named `Odd`."""
    return type("Odd", (base,), members)


def refusal(make_it: Any) -> str:
    with pytest.raises(ImproperlyConfigured) as caught:
        make_it()
    return str(caught.value)


LIST = {"list": Operation("List shelves")}


# -- what DRF would heed -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(_ELSEWHERE))
def test_attribute_of_drf_is_refused_with_the_place_that_decides(name):
    told = f"Odd.{name} would have no effect: {_ELSEWHERE[name]}."
    assert refusal(lambda: make(operations=LIST, **{name: [DenyAll]})) == told


@pytest.mark.parametrize("name", sorted(_ELSEWHERE))
def test_attribute_of_drf_is_refused_on_a_base_without_operations(name):
    assert f"Odd.{name} would" in refusal(lambda: make(**{name: [DenyAll]}))


def test_attribute_of_drf_is_refused_where_a_mixin_brings_it():
    closed = type("Closed", (), {"permission_classes": [DenyAll]})
    assert "Odd.permission_classes would" in refusal(lambda: type("Odd", (closed, Shelves), {"operations": LIST}))
    bases = (mixins.CreateModelMixin, Shelves)
    assert "Odd.get_success_headers would" in refusal(lambda: type("Odd", bases, {"operations": LIST}))


def test_permission_as_an_option_of_as_view_is_refused():
    view = make(operations=LIST)
    told = refusal(lambda: view.as_view({"get": "list"}, permission_classes=[DenyAll]))
    assert told == f"Odd.permission_classes would have no effect: {_ELSEWHERE['permission_classes']}."


def test_permission_as_an_option_of_an_action_is_refused():
    @action(detail=True, methods=["post"], permission_classes=[DenyAll])
    def close(self, request, pk):
        return self.write()

    operation = Operation("Close a shelf", find=find_shelf, run=close_shelf)
    assert "Odd.permission_classes would" in refusal(lambda: make(operations={"close": operation}, close=close))


def test_option_of_as_view_that_was_completed_into_the_operations_is_refused():
    view = make(operations=LIST)
    told = refusal(lambda: view.as_view({"get": "list"}, serializer_class=PackagingOut))
    assert told.startswith("Odd.serializer_class is read when the class is made")


def test_every_public_name_of_a_model_viewset_is_heeded_or_refused():
    heeded = {name for kind in ApiViewSet.__mro__ if kind.__module__.startswith("api.") for name in vars(kind)}
    heeded |= set(ApiViewSet.__annotations__) | {
        "allowed_methods", "get_extra_action_url_map", "get_extra_actions", "get_format_suffix", "get_view_description",
        "get_view_name", "reverse_action", "view_is_async",
    }  # fmt: skip
    public = {name for name in dir(ModelViewSet) if not name.startswith("_")}
    assert public - heeded - set(_ELSEWHERE) == set()


# -- operations and methods --------------------------------------------------------------------------------------------


def test_operation_without_a_method_is_refused():
    told = refusal(lambda: make(operations={**LIST, "close": Operation("Close a shelf")}))
    assert told == "Odd.close: the operation has no such method, neither a standard one nor an @action."


def test_operation_named_like_a_method_of_the_base_is_refused():
    assert "Odd.dispatch: the operation has no such method" in refusal(
        lambda: make(operations={"dispatch": Operation("Dispatch")})
    )


def test_action_without_an_operation_is_refused():
    @action(detail=True, methods=["post"])
    def close(self, request, pk):
        return self.write()

    told = refusal(lambda: make(operations=LIST, close=close))
    assert told == "Odd.close: the method has no operation, so nobody could call it (api/operations.py)."


def test_action_of_a_base_without_an_operation_is_refused():
    @action(detail=True, methods=["post"])
    def close(self, request, pk):
        return self.write()

    base = make(close=close)
    assert "Odd.close: the method has no operation" in refusal(lambda: make(base, operations=LIST))


@pytest.mark.parametrize("name", ["list", "create", "retrieve", "update", "partial_update", "destroy"])
def test_overridden_standard_method_without_an_operation_is_refused(name):
    operations = {"destroy" if name != "destroy" else "list": Operation("Other", find=find_shelf, run=close_shelf)}
    told = refusal(lambda: make(operations=operations, **{name: lambda self, request, **path: self.list_page()}))
    assert told.startswith(f"Odd.{name}: the method has no operation")


def test_viewset_without_operations_has_no_route():
    assert refusal(lambda: _routed(make())).startswith("Odd.operations is empty")


def test_route_to_a_method_without_an_operation_is_refused():
    view = make(operations=LIST)
    assert refusal(lambda: view.as_view({"post": "create"})) == "Odd declares no operation create."


def _routed(view: Any) -> list[Any]:
    router = Router()
    router.register("shelves", view, basename="shelf")
    return router.urls


def test_no_scope_is_refused():
    told = refusal(lambda: make(scope_prefix="", operations=LIST))
    assert told == "Odd.list names no scope, and its viewset no scope_prefix."


def test_scope_prefix_that_does_not_end_is_refused():
    told = refusal(lambda: make(scope_prefix="catalog", operations=LIST))
    assert told.startswith("Odd.scope_prefix: 'catalog' ends neither in a colon nor in a dot")


# -- actions -----------------------------------------------------------------------------------------------------------


def without_data(actor, at):
    """An action that does not take what the body holds."""


def in_another_order(actor, data, shelf, at):
    """An action whose target stands in the place of the data."""


def with_names_only(*, actor, data, at):
    """An action in the old form."""


@pytest.mark.parametrize(
    ("operation", "takes", "wanted"),
    [
        (Operation("Create", body=ShelfIn, run=without_data), "actor, at", "actor, data, at"),
        (Operation("Create", run=create_shelf), "actor, data, at", "actor, at"),
        (Operation("Create", body=ShelfIn, run=with_names_only), "", "actor, data, at"),
        (Operation("Create", body=ShelfIn, run=rename_shelf), "actor, shelf, data, at", "actor, data, at"),
        (
            Operation("Create", body=ShelfIn, find=find_shelf, run=in_another_order),
            "actor, data, shelf, at",
            "actor, target, data, at",
        ),
        (Operation("Create", find=find_shelf, run=create_shelf), "actor, data, at", "actor, target, at"),
    ],
)
def test_action_with_other_parameters_is_refused(operation, takes, wanted):
    told = refusal(lambda: make(operations={"create": operation}))
    assert told == f"Odd.create: {operation.run.__name__} takes ({takes}), not ({wanted})."


def test_standard_write_without_an_action_is_refused():
    told = refusal(lambda: make(operations={"create": Operation("Create a shelf", body=ShelfIn)}))
    assert told.startswith("Odd.create: the operation names no action to `run`")


def test_standard_write_whose_action_wants_more_than_it_is_given_is_refused():
    def create_with_addresses(actor, data, at, addresses):
        """An action that needs what only a method of the viewset could give it."""

    operation = Operation("Create a shelf", body=ShelfIn, run=create_with_addresses)
    told = refusal(lambda: make(operations={"create": operation}))
    assert told == "Odd.create: nobody gives create_with_addresses its addresses; pass it to `write`."
    assert make(operations={"create": operation}, create=lambda self, request: self.write(addresses=()))


def test_upsert_without_a_find_is_refused():
    operation = Operation("Put a shelf", body=ShelfIn, run=create_shelf, upsert=True)
    assert refusal(lambda: make(operations={"update": operation})).startswith("Odd.update: an upsert has a `find`")


# -- forms, filters and sorts ------------------------------------------------------------------------------------------


def test_serializer_class_that_is_no_representation_is_refused():
    told = refusal(lambda: make(serializer_class=ShelfIn, operations=LIST))
    assert told.startswith("Odd.serializer_class: it is the answer's form, a Representation (api/representations.py)")


def test_serializer_class_of_a_subclass_counts_for_the_operations_it_inherits():
    view = make(operations={**LIST, "retrieve": Operation("Get a shelf")})
    child = make(view, serializer_class=PackagingOut, ordering_fields=("created_at",))
    assert child.operations["retrieve"].shape is PackagingOut.shape
    assert child.operations["list"].listing.shape is PackagingOut.shape
    assert view.operations["retrieve"].shape is ShelfOut.shape


@pytest.mark.parametrize("name", ["list", "retrieve"])
def test_standard_read_without_a_form_is_refused(name):
    told = refusal(lambda: make(serializer_class=None, operations={name: Operation("Read")}))
    assert told.startswith(f"Odd.{name}: there is neither a serializer_class nor an answer")


def test_filterset_that_is_not_the_platforms_is_refused():
    told = refusal(lambda: make(filterset_class=django_filters.FilterSet, operations=LIST))
    assert told == "Odd.filterset_class: it is a subclass of Filters (api/filters.py)."


@pytest.mark.parametrize("entry", ["colour", SortBy("colour", "colour")])
def test_sort_that_is_no_column_is_refused(entry):
    told = refusal(lambda: make(ordering_fields=("created_at", entry), operations=LIST))
    assert told == "Odd.ordering_fields: shelf: Category has no column colour to sort by."


def test_default_order_that_is_no_sort_is_refused():
    told = refusal(lambda: make(ordering="-name", operations=LIST))
    assert told == "Odd.ordering_fields: The default order -name of ShelfOut is not among its sorts."


@pytest.mark.parametrize(("member", "told"), [("body", "body is a serializer"), ("answer", "answer is a serializer")])
def test_form_that_is_no_serializer_is_refused(member, told):
    operation = Operation("Create a shelf", run=without_data, **{member: Category})
    assert told in refusal(lambda: make(operations={"create": operation}))


# -- representations ---------------------------------------------------------------------------------------------------


def represent(declared: dict[str, Any] | None = None, /, **meta: Any) -> type:
    """Make a representation named `OddOut` of a category; `meta` changes its Meta."""
    options = {"model": Category, "fields": ("id", "code", *(declared or {}))} | meta
    return type("OddOut", (Representation,), {**(declared or {}), "Meta": type("Meta", (), options)})


@pytest.mark.parametrize(
    ("declared", "meta", "told"),
    [
        ({}, {"fields": ("id", "colour")}, "colour"),
        ({"colour": serializers.CharField()}, {}, "colour: Category has no column colour"),
        ({"shade": serializers.CharField(source="colour")}, {}, "shade: Category has no column colour"),
        ({"shade": serializers.CharField(source="parent.name")}, {}, "shade: Category has no column parent.name"),
        ({}, {"includes": ("stock",)}, "Meta.includes names stock"),
        ({}, {"revealed": ("secret",)}, "Meta.revealed names secret"),
        ({}, {"blank_as_null": ("brand",)}, "Meta.blank_as_null names brand"),
        ({}, {"extra_kwargs": {"brand": {"help_text": "Its maker."}}}, "Meta.extra_kwargs names brand"),
        ({}, {"example": {"brand": "Basal"}}, "Meta.example names brand"),
        ({}, {"key": "slug"}, "Meta.key: Category has no column slug"),
        ({}, {"version": "revision"}, "Meta.version: Category has no column revision"),
    ],
)
def test_member_that_the_model_lacks_is_refused(declared, meta, told):
    found = refusal(lambda: represent(declared, **meta))
    assert found.startswith("OddOut: ")
    assert told in found


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"by": "shelf"}, "Packaging has no field named 'shelf'"),
        ({"by": "product", "ordering": ("colour",)}, "Packaging has no field named 'colour'"),
    ],
)
def test_rows_by_or_in_order_of_what_is_no_field_are_refused(options, told):
    declared = {"packagings": PackagingOut(many=True, **options)}
    assert told in refusal(lambda: represent(declared, model=Product, fields=("id", "packagings")))


def test_sound_representation_and_viewset_are_taken():
    kind = represent(blank_as_null=("name",), fields=("id", "code", "name"), key="code")
    view = make(serializer_class=kind, operations={**LIST, "create": Operation("C", body=ShelfIn, run=create_shelf)})
    assert {pattern.name for pattern in _routed(view)} == {"shelf-list"}
