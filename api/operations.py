"""One endpoint as its viewset declares it: what it demands, reads, runs and answers.

Routing, the checks of a request and the OpenAPI document read it. A viewset's class attributes say what its operations
have in common; an operation says only what differs (`api/declarations.py` brings the two together).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from inspect import signature
from typing import Any

from rest_framework.serializers import BaseSerializer, Serializer

from core.actor import Actor
from core.errors import PlatformError

from .body import LIMIT_BYTES
from .listing import Listing
from .shapes import Shape

READS = frozenset({"list", "retrieve"})


@dataclass(frozen=True, slots=True)
class Operation:
    """One endpoint.

    Rights: `scope` None takes the viewset's `scope_prefix` with `read` or `write`, "" lets in any active member, of
    `any_scope` one suffices; `supplier_scope` is that of the supplier's side, where an address serves both; `tenant` is "required", "optional" (all the subject's tenants when no header) or "none";
    `public` needs no credential; `kind` is a kind the tenant must hold, `feature` one its plan must include;
    `user_only` keeps machines out; `step_up_seconds` is the greatest age of the second factor.

    Body and answer: `body` is the serializer of the body, at most `body_limit` bytes; `answer` a representation other
    than the viewset's `serializer_class`, or a plain serializer of what `run` returns as `Answer`; `listing` a list other
    than the viewset's own; `secrets` names members that a replay answers as null; `example` is an example of the body.

    Work: `run` is the action, called with actor, target, data and instant, of which the operation leaves out the target
    where it has no `find` and the data where it has no `body`; `find` is called with the actor and the ids of the path
    and returns the locked target. `upsert` is a PUT under the client's own code: `find` returns None where nothing stands,
    and `run` takes the code too, by its name in the path.

    `costs` False spends no unit of a limit; `policy` is a rate policy other than the family's.
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
    partial: bool = False
    upsert: bool = False
    answer: type[BaseSerializer[Any]] | None = None
    listing: Listing | None = None
    shape: Shape | None = None
    status: int = 0
    secrets: tuple[str, ...] = ()
    example: dict[str, Any] | None = None
    parameters: tuple[dict[str, Any], ...] = ()
    errors: tuple[type[PlatformError], ...] = ()
    run: Callable[..., Any] | None = None
    find: Callable[..., Any] | None = None
    policy: str = ""
    costs: bool = True
    items: type[BaseSerializer[Any]] | None = None

    def found(self, actor: Actor, path: dict[str, Any]) -> Any:
        """The target that the path names, or None for an operation without one."""
        return self.find(actor, *path.values()) if self.find else None

    def arguments(self) -> list[str]:
        """The names of what `run` is given, in their order."""
        return ["actor", *["target"] * bool(self.find), *["data"] * bool(self.body), "at"]

    def takes(self, name: str) -> bool:
        """Tell whether the action takes something beyond its usual arguments."""
        return self.run is not None and name in _parameters(self.run)


@cache
def _parameters(run: Callable[..., Any]) -> frozenset[str]:
    return frozenset(signature(run).parameters)
