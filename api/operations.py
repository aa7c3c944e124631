"""One endpoint as its viewset declares it: what it demands, reads, runs and answers.

Routing, the checks of a request and the OpenAPI document read it. A viewset's class attributes say what its operations
have in common; an operation says only what differs (`api/declarations.py` brings the two together).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import signature
from typing import Any
from uuid import UUID

from rest_framework.serializers import BaseSerializer, Serializer

from core.actor import Actor
from core.errors import PlatformError
from core.pipeline import Call, Rows
from core.targets import Located

from .body import LIMIT_BYTES
from .filters import Filters
from .further_media import Media
from .listing import Listing
from .shapes import Shape

READS = frozenset({"list", "retrieve"})


@dataclass(frozen=True, slots=True)
class Operation:
    """One endpoint.

    Rights: `scope` is the scope that is needed; None stands for the viewset's `scope_prefix` with `read` or `write`,
    "" admits any active member. Of `any_scope` one is enough. `supplier_scope` is the scope for the supplier's side of
    an address that serves both sides. `tenant` is "required", "optional" (without X-Tenant-Id all the subject's
    tenants) or "none". `public` needs no credential. The tenant must be of the `kind` ("buyer": provider or pharmacy), and its plan must include the
    `feature`. `user_only` refuses API keys and services. `step_up_seconds` is the greatest age of the second factor.

    Body and answer: `body` is the serializer of the body, `body_limit` its greatest size in bytes, `example` one body.
    `multipart` is the serializer of a form that is accepted beside JSON: its texts, and its files as
    `api.multipart.FilePart`. `spooled_bytes` is the greatest size of a form (without `body`: of any body), which the HTTP
    front keeps on disk while it arrives. `answer` is a representation other than the viewset's `serializer_class`, or a
    plain serializer of what `run` returns as `Answer`. `status` is that of the answer; `further_statuses` are others that
    `Answer.status` or `core.results.Found` may choose. `items` are those of a list that the view reads itself, with its
    `filters`; `chooses` says that the view reads `fields` itself (`api/chosen_members.py`). `listing` is a list other than the viewset's own. `secrets` are members that a replay answers
    as null. `media` are media types beside JSON that the view writes itself (`api/further_media.py`). `many` marks an answer that is a whole list, without pages. `errors` are the refusals of the action.

    Work: `run` is the action. It is called with actor, target, data and instant; without `find` there is no target, and
    without `body` there are no data. `find` is called with the actor and the ids of the path, and returns the locked
    target. A `find` that is a `core.targets.Located` looks the target up in the trip of the proof. `upsert` is a PUT
    under a code that the client chooses: `find` returns None if there is no such object, and `run` also takes the code,
    as the keyword argument that the path names.

    Rate limit: `costs` False counts no request; `policy` is a rate policy other than the family's.
    """

    summary: str
    description: str = ""
    scope: str | None = None
    any_scope: tuple[str, ...] = ()
    supplier_scope: str = ""
    tenant: str = "required"
    public: bool = False
    kind: str | None = None
    feature: str | None = None
    user_only: bool = False
    step_up_seconds: int = 0
    body: type[Serializer[Any]] | None = None
    body_limit: int = LIMIT_BYTES
    multipart: type[Serializer[Any]] | None = None
    spooled_bytes: int = 0
    partial: bool = False
    upsert: bool = False
    answer: type[BaseSerializer[Any]] | None = None
    many: bool = False
    listing: Listing | None = None
    shape: Shape | None = None
    status: int = 0
    further_statuses: tuple[int, ...] = ()
    secrets: tuple[str, ...] = ()
    example: dict[str, Any] | None = None
    parameters: tuple[dict[str, Any], ...] = ()
    errors: tuple[type[PlatformError], ...] = ()
    run: Callable[..., Any] | None = None
    find: Callable[..., Any] | None = None
    policy: str = ""
    costs: bool = True
    items: type[BaseSerializer[Any]] | None = None
    filters: type[Filters] | None = None
    chooses: bool = False
    media: tuple[Media, ...] = ()

    def located(self, tenant_id: UUID, path: dict[str, Any]) -> list[Call]:
        """Return the statement that looks the target up with the proof, where `find` has one."""
        return [self.find.locate(tenant_id, *path.values())] if isinstance(self.find, Located) else []

    def found(self, actor: Actor, path: dict[str, Any], located: Sequence[Rows] = ()) -> Any:
        """Find the target that the path names; None for an operation without `find`."""
        if located and self.find:
            return self.find(actor, *path.values(), located=located[0])
        return self.find(actor, *path.values()) if self.find else None

    def arguments(self) -> list[str]:
        """Return the names of the arguments of `run`, in order."""
        return ["actor", *["target"] * bool(self.find), *["data"] * bool(self.body), "at"]

    def takes(self, name: str) -> bool:
        """Tell whether the action takes something beyond its usual arguments."""
        return self.run is not None and name in _parameters(self.run)


@cache
def _parameters(run: Callable[..., Any]) -> frozenset[str]:
    return frozenset(signature(run).parameters)
