"""A supplier tenant with a key and facts, and a dispatcher that runs to the end."""

import time
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from django.db import transaction

from core.actor import Actor, system_actor
from core.clock import now
from core.db import bind_tenant, tenant_context
from core.lanes import lanes
from ledger import public as ledger
from ledger.models import Event as Fact
from suppliers.catalog.events import ProductCreated
from tests.factories import Api, api_key, provision
from webhooks import dispatcher
from webhooks.models import DueDelivery
from webhooks.queues import Queues


@dataclass
class World:
    """One tenant with a client; facts are recorded through the ledger's door."""

    tenant: object
    api: Api
    actor: Actor
    facts: list[UUID] = field(default_factory=list)

    def endpoint(self, url, *, events=("*",), **more):
        answer = self.api.post("/v1/webhooks", json={"url": url, "events": list(events), **more})
        assert answer.status_code == 201, answer.content
        return answer.json()["data"]

    def event_types(self):
        """The catalogue of events by type, from all of its pages."""
        found, number, more = {}, 1, True
        while more:
            page = self.api.get(f"/v1/webhooks/event-types?limit=100&page={number}").json()["data"]
            found |= {kind["type"]: kind for kind in page["items"]}
            number, more = number + 1, len(found) < page["total"]
        return found

    def record(self, resource_id=None, *, event=None, version=1):
        """Record one fact in a transaction of its own; return the resource's id."""
        with transaction.atomic():
            bind_tenant(self.tenant.id)
            found = resource_id or uuid4()
            fact = event or ProductCreated(supplier_sku="GLOVE-M", status="active")
            ledger.record(actor=self.actor, event=fact, resource_id=found, at=now(), resource_version=version)
        return found

    def rows(self, model, **conditions):
        with tenant_context(self.tenant.id):
            return list(model.objects.filter(tenant_id=self.tenant.id, **conditions).order_by("created_at", "pk"))

    def rows_of_facts(self, kind):
        """The facts of one kind that the ledger holds of this tenant, oldest first."""
        with tenant_context(self.tenant.id):
            return list(Fact.objects.filter(tenant_id=self.tenant.id, type=kind).order_by("occurred_at", "id"))

    def deliveries(self, endpoint, query=""):
        answer = self.api.get(f"/v1/webhooks/{endpoint['id']}/deliveries{query}")
        assert answer.status_code == 200, answer.content
        return answer.json()["data"]["items"]

    def make_due(self):
        """Let every waiting delivery of the tenant be due now."""
        with tenant_context(self.tenant.id):
            DueDelivery.objects.filter(tenant_id=self.tenant.id, lease=None).update(due_at=now())


def new_world():
    tenant = provision("supplier")
    world = World(tenant, Api(key=api_key(tenant), tenant=tenant), system_actor(tenant.id, request_id="request-1"))
    dispatcher.run(_settle())
    return world


async def _settle():
    """Fan out what provisioning itself said, before anybody listens."""
    queues = Queues(lease=uuid4())
    try:
        for lane in lanes():
            while any(await queues.fan_out(lane, limit=1000)):
                pass
    finally:
        await queues.close()


def drain(seconds=10.0, **pace):
    """Run a dispatcher until nothing is due any more; return how many messages it sent."""
    end = time.monotonic() + seconds
    chosen = dispatcher.Pace(lease_seconds=20, linger_seconds=0.15, **pace)
    return dispatcher.run(
        dispatcher.dispatch(lambda quiet: time.monotonic() < end and quiet < chosen.linger_seconds, pace=chosen)
    )
