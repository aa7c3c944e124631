"""A viewset and addresses of the tests' own, on the table of a supplier's categories: what no resource that stands shows yet."""

from typing import Any

from django.urls import include, path
from rest_framework import serializers
from rest_framework.decorators import action

from api.batches import BatchIn, BatchRows
from api.operations import Operation
from api.representations import Representation
from api.routing import Directory, Router
from api.serializers import StrictSerializer
from api.views import ApiViewSet
from core import pipeline
from core.batches import Outcome
from core.db import needs_transaction
from core.errors import Duplicate, FieldError, Unprocessable
from core.ids import uuid7
from core.results import Refusal
from core.rows import insert_all
from suppliers.catalog.models import Category

ROOT = "01890a5d-ac96-774b-bcce-b302099a8057"
SMALL, LARGE = 2_000, 2 * 1_048_576


class ShelfOut(Representation):
    """A category, known by its own code."""

    class Meta:
        model = Category
        key = "code"
        fields = ("id", "code", "name", "active", "created_at", "updated_at", "version")


class ShelfIn(StrictSerializer):
    name = serializers.CharField(max_length=120)


class NoteIn(StrictSerializer):
    """A body of which nothing is required."""

    text = serializers.CharField(required=False, default="", allow_blank=True)


class ShelfRowIn(StrictSerializer):
    code = serializers.CharField(max_length=64)
    name = serializers.CharField(max_length=120)


class ShelvesIn(BatchIn):
    items = BatchRows(child=ShelfRowIn())
    mode = serializers.ChoiceField(choices=("replace", "merge"), default="replace")
    key = "code"

    def has_partial_rows(self, data: Any) -> bool:
        return data["mode"] == "merge"


class TooDusty(Unprocessable):
    """The inspection is kept, and failed."""

    code = "too_dusty"
    title = "The shelf is too dusty."


def find_or_none(actor, code):
    """The locked shelf under a code, or None."""
    return Category.objects.of(actor).select_for_update().filter(code=code).first()


@needs_transaction
def put_shelf(actor, shelf, data, at, code):
    """Create a shelf, or rename the one that stands."""
    if shelf is None:
        return Category.objects.create(
            tenant_id=actor.tenant_id, parent_id=ROOT, code=code, created_at=at, updated_at=at, **data
        )
    shelf.name, shelf.version, shelf.updated_at = data["name"], shelf.version + 1, at
    shelf.save(update_fields=["name", "version", "updated_at"])
    return shelf


def find_shelf(actor, code):
    return Category.objects.of(actor).select_for_update().get(code=code)


@needs_transaction
def create_shelf(actor, data, at):
    """Create a shelf from a body that names its code."""
    return put_shelf(actor, None, {"name": data["name"]}, at, data["code"])


@needs_transaction
def inspect_shelf(actor, shelf, data, at):
    """Write what was seen, and refuse."""
    shelf.name, shelf.version = f"{shelf.name}, dusty", shelf.version + 1
    shelf.save(update_fields=["name", "version"])
    return Refusal(TooDusty(seen=data["text"]))


@needs_transaction
def copy_shelf(actor, shelf, at):
    """Make a shelf that is read at another address than below this one."""
    return Category.objects.create(tenant_id=actor.tenant_id, parent_id=ROOT, code=f"{shelf.code}-copy", name="Copy")


@needs_transaction
def write_shelves(actor, data, at):
    """Insert all rows in one statement; what is missing from its answer was taken."""
    rows = data["items"]
    wanted = [
        {
            "id": str(uuid7()), "tenant_id": str(actor.tenant_id), "parent_id": ROOT, "code": row.data["code"],
            "name": row.data.get("name", ""), "mappings": {}, "active": True, "created_at": at.isoformat(),
            "updated_at": at.isoformat(), "version": 1,
        }
        for row in rows
    ]  # fmt: skip
    call = insert_all(Category, wanted)
    tail = b" ON CONFLICT DO NOTHING RETURNING code, id"
    call.statement = pipeline.Statement.of((call.statement.sql.removesuffix(b" RETURNING 1") + tail).decode())
    (found,) = pipeline.run([call])
    made = {code.decode(): key.decode() for code, key in (found.row(n) for n in range(len(found)))}
    return [_outcome(row, made.get(row.data["code"])) for row in rows]


def _outcome(row, key):
    if key:
        return Outcome(row.index, "created", id=key)
    return Outcome(row.index, error=Duplicate(errors=[FieldError("code", "duplicate", "It is taken.")]))


@needs_transaction
def forget_shelves(actor, data, at):
    """Tell of the first row only."""
    return write_shelves(actor, data, at)[:1]


class ShelfViewSet(ApiViewSet):
    """Shelves under the client's own codes."""

    family = "supplier"
    scope_prefix = "catalog:"
    tenant_kind = "supplier"
    serializer_class = ShelfOut
    ordering_fields = ("created_at", "updated_at", "code")
    lookup_url_kwarg = "code"
    lookup_value_converter = "str"
    documented = False
    operations = {
        "list": Operation("List shelves"),
        "retrieve": Operation("Get a shelf"),
        "update": Operation(
            "Put a shelf", body=ShelfIn, find=find_or_none, run=put_shelf, upsert=True, body_limit=LARGE
        ),
        "inspect": Operation("Inspect a shelf", body=NoteIn, find=find_shelf, run=inspect_shelf, body_limit=SMALL),
        "copies": Operation("Copy a shelf", find=find_shelf, run=copy_shelf, status=201),
        "bulk": Operation("Write shelves", body=ShelvesIn, run=write_shelves),
        "forgetful": Operation("Write shelves badly", body=ShelvesIn, run=forget_shelves),
    }

    @action(detail=True, methods=["post"])
    def inspect(self, request, code):
        return self.write()

    @action(detail=True, methods=["post"])
    def copies(self, request, code):
        return self.write()

    @action(detail=False, methods=["post"])
    def bulk(self, request):
        return self.write()

    @action(detail=False, methods=["post"])
    def forgetful(self, request):
        return self.write()


class CursorShelfViewSet(ShelfViewSet):
    """The same in a family whose lists go by cursor."""

    family = "organizations"


class WriteOnlyViewSet(ApiViewSet):
    """Shelves that can be made here and read nowhere."""

    scope_prefix = "catalog:"
    serializer_class = ShelfOut
    documented = False
    operations = {"create": Operation("Create a shelf", body=ShelfRowIn, run=create_shelf)}


router = Router()
router.register("shelves", ShelfViewSet, basename="test-shelf")
router.register("cursor-shelves", CursorShelfViewSet, basename="test-cursor-shelf")
router.register("blind-shelves", WriteOnlyViewSet, basename="test-blind-shelf")

urlpatterns = [Directory([path("v1/", include(router.urls)), path("", include("config.urls"))])]
