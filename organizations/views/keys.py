"""HTTP of API keys."""

from typing import ClassVar
from uuid import UUID

import orjson
from django.http import HttpRequest, HttpResponse

from api.listing import one_call
from api.operations import Operation
from api.shapes import Selection
from api.views import ApiViewSet
from api.writing import Answer, Command
from core import pipeline
from core.errors import InvalidFields, InvalidTransition, NotFound, QuotaExceeded
from organizations import policies
from organizations.actions import keys as actions
from organizations.models import ApiKey
from organizations.serializers.keys import ApiKeyIn
from organizations.shapes.keys import API_KEY, API_KEYS, SECRET, new_key_schema


class ApiKeyViewSet(ApiViewSet):
    """The tenant's API keys."""

    family = "organizations"
    operation_ids: ClassVar = {"create": "createApiKey"}
    operations: ClassVar = {
        "list": Operation(scope="apikeys.manage", summary="List API keys", listing=API_KEYS),
        "create": Operation(
            scope="apikeys.manage",
            summary="Create or rotate an API key",
            description="With `replaces` the new key succeeds another, which works on for `overlap_hours`. The key itself is "
            "in this answer only.",
            body=ApiKeyIn,
            answer=new_key_schema(),
            secrets=(SECRET,),
            status=201,
            errors=(
                InvalidFields,
                NotFound,
                InvalidTransition,
                policies.ScopeEscalation,
                policies.MachineScope,
                QuotaExceeded,
            ),
            example={"name": "Warehouse system", "partner": "Acme ERP", "roles": ["supplier_integration"]},
        ),
        "destroy": Operation(
            scope="apikeys.manage", summary="Revoke an API key", status=204, errors=(NotFound, InvalidTransition)
        ),
    }

    def list(self, request: HttpRequest) -> HttpResponse:
        """Answer the keys, never their secrets."""
        return self.list_page()

    def create(self, request: HttpRequest) -> HttpResponse:
        """Make a key, or the successor of one."""
        return self.write(lambda command: new_key_answer(command, self.request.path))

    def destroy(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Stop a key at once."""

        def work(command: Command) -> ApiKey:
            return actions.revoke_key(actor=command.actor, key=command.target, at=command.at)

        return self.write(work, find=lambda actor: actions.locked_key(actor, pk))


def new_key_answer(command: Command, path: str) -> Answer:
    """Make the key and answer it with its text; the supplier's door to the same keys answers alike."""
    values = dict(command.data)
    replaces, overlap = values.pop("replaces", None), values.pop("overlap_hours")
    if replaces is None:
        made = actions.create_key(actor=command.actor, data=values, at=command.at)
    else:
        made = actions.rotate_key(
            actor=command.actor, replaces=replaces, data=values, overlap_hours=overlap, at=command.at
        )
    call = one_call(API_KEY, Selection(), command.actor.tenant_id, str(made.row.id))
    (rows,) = pipeline.run([call])
    shown = {**orjson.loads(rows.value() or b"{}"), SECRET: made.text}
    return Answer.of(shown, headers={"Location": f"{path.rstrip('/')}/{made.row.id}"}, tag=f'"{made.row.version}"')
