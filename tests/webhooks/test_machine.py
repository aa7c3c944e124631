"""Any order of events, claims, answers, deaths and switches leaves no delivery stuck, doubled or overwritten."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from core.clock import now
from core.ids import uuid7
from tests.webhooks.engine import Engine, change_endpoint, judged, run_as_owner
from tests.webhooks.worlds import new_world
from webhooks import health, states
from webhooks.models import Delivery, DueDelivery

URL = "http://127.0.0.1:9/hook"
STATUSES = st.sampled_from([200, 200, 500, None, 429, 503])
WHICH = st.integers(min_value=0, max_value=1)


def vars_of(row):
    return {name: value for name, value in vars(row).items() if name != "_state"}


class Deliveries(RuleBasedStateMachine):
    """Two dispatchers, one endpoint, three resources; answers are made up, PostgreSQL is real."""

    @initialize(ordered=st.booleans(), max_inflight=st.integers(min_value=1, max_value=4))
    def begin(self, ordered, max_inflight):
        self.world = new_world()  # a tenant has 100 endpoints at most, and failures are shrunk in hundreds of runs
        run_as_owner("DELETE FROM webhooks_delivery_due")
        run_as_owner("DELETE FROM webhooks_event_new")
        self.endpoint = self.world.endpoint(URL, events=["product.*"])
        self.path = f"/v1/webhooks/{self.endpoint['id']}"
        self.ordered, self.max_inflight = ordered, max_inflight
        change_endpoint(self.world, self.endpoint, ordered=ordered, max_inflight=max_inflight)
        self.engines = [Engine(self.world), Engine(self.world)]
        self.held = [[], []]
        self.lost = []  # what a dead dispatcher may still come back with
        self.resources = [uuid7() for _ in range(3)]
        self.delivered = set()
        self.record([0, 0, 1])

    @rule(numbers=st.lists(st.integers(min_value=0, max_value=2), min_size=1, max_size=6))
    def record(self, numbers):
        for number in numbers:
            self.world.record(self.resources[number])
        self.engines[0].fan_out()

    @rule(which=WHICH, limit=st.integers(min_value=1, max_value=6))
    def claim(self, which, limit):
        self.held[which] += self.engines[which].claim(limit=limit, first=limit)

    @rule(which=WHICH, statuses=st.lists(STATUSES, min_size=1, max_size=4), retry_after=st.sampled_from(["", "60"]))
    def answer(self, which, statuses, retry_after):
        for status in statuses:
            if self.held[which]:
                self._finish(self.engines[which], self.held[which].pop(0), status, retry_after)

    @rule()
    def time_passes(self):
        self._let_time_pass()
        claim = self.engines[0].claim_all(limit=1, first=1)
        self.held[0] += [work for work in claim.work if work.tenant_id == self.world.tenant.id]
        if claim.inactive:
            self.engines[0].freeze(*claim.inactive)

    @rule(
        what=st.sampled_from(["die", "return", "give_back", "farewell", "disable", "enable", "redeliver"]), which=WHICH
    )
    def happen(self, what, which):
        getattr(self, f"_{what}")(which)

    def _die(self, which):
        """The dispatcher is away for longer than its leases; another one takes its rows."""
        for work in self.held[which]:
            run_as_owner(
                "UPDATE webhooks_delivery_due SET due_at = now() WHERE delivery_id = %s AND lease = %s",
                [work.delivery_id, self.engines[which].queues._lease],
            )
        self.lost += [(self.engines[which], work) for work in self.held[which]]
        self.held[which] = []
        other = 1 - which
        self.held[other] += self.engines[other].claim(limit=6, first=6)

    def _return(self, which):
        """A dispatcher that was away comes back with what its requests said, whoever has the rows now."""
        for engine, work in self.lost:
            self._finish(engine, work, [500, 200][which])
        self.lost = []

    def _give_back(self, which):
        self.engines[which].release(*self.held[which])
        self.held[which] = []

    def _farewell(self, which):
        if self.held[which]:
            self._finish(self.engines[which], self.held[which].pop(0), 410)
            health.watch(at=now())

    def _disable(self, which):
        assert self.world.api.patch(self.path, json={"active": False}).status_code == 200

    def _enable(self, which):
        assert self.world.api.patch(self.path, json={"active": True}).status_code == 200

    def _redeliver(self, which):
        done = self._rows(Delivery, state__in=[states.DELIVERED, states.FAILED])
        if done:
            answer = self.world.api.post(f"{self.path}/deliveries/{done[0].id}/redeliver")
            if answer.status_code == 202:
                self.delivered.discard(done[0].id)

    @invariant()
    def due_rows_and_states_agree(self):
        if not hasattr(self, "engines"):
            return
        due = {row.delivery_id: row for row in self._rows(DueDelivery)}
        rows = self._rows(Delivery)
        active = self._is_active()
        for row in rows:
            if row.state not in states.UNFINISHED:
                assert row.id not in due, f"{row.state} and still queued"
            elif active:
                assert row.id in due, f"{row.state} and never tried again"
            if row.id in due:
                assert (row.attempts, row.attempts_before) == (due[row.id].attempts, due[row.id].attempts_before)
        assert self.delivered <= {row.id for row in rows if row.state == states.DELIVERED}, "a success was overwritten"

    @invariant()
    def leases_stay_within_cap_and_order(self):
        if not hasattr(self, "engines"):
            return
        due = self._rows(DueDelivery)
        leased = [row for row in due if row.lease is not None and row.due_at > now()]
        assert len(leased) <= self.max_inflight
        if self.ordered:
            assert len({row.resource_id for row in leased}) == len(leased), "two of one resource in flight"

    def teardown(self):
        if not hasattr(self, "engines"):
            return
        self.held = [[], []]
        if not self._is_active():
            self.world.api.patch(self.path, json={"active": True})
        for _ in range(1000):  # one row a turn where the cap is one
            self._let_time_pass(leases=True)
            works = self.engines[0].claim()
            for work in works:
                self._finish(self.engines[0], work, 200)
            if not self._rows(DueDelivery):
                break
        assert {row.state for row in self._rows(Delivery)} <= {states.DELIVERED, states.FAILED}
        for engine in self.engines:
            engine.__exit__()

    def _finish(self, engine, work, status, retry_after=""):
        owned = bool(self._rows(DueDelivery, delivery_id=work.delivery_id, lease=engine.queues._lease))
        before = self._rows(Delivery, id=work.delivery_id)
        engine.finish(judged(work, status=status, retry_after=retry_after))
        after = self._rows(Delivery, id=work.delivery_id)
        assert owned or [vars_of(row) for row in before] == [vars_of(row) for row in after], "a late worker moved it"
        if owned and status == 200:
            self.delivered.add(work.delivery_id)

    def _let_time_pass(self, *, leases=False):
        held = "" if leases else "AND lease IS NULL"
        run_as_owner(
            f"UPDATE webhooks_delivery_due SET due_at = now() WHERE endpoint_id = %s {held}", [self.endpoint["id"]]
        )
        run_as_owner(
            "UPDATE webhooks_endpoint_health SET circuit_until = least(circuit_until, now()), paused_until = NULL"
            " WHERE endpoint_id = %s",
            [self.endpoint["id"]],
        )

    def _rows(self, model, **conditions):
        return self.world.rows(model, endpoint_id=self.endpoint["id"], **conditions)

    def _is_active(self):
        return run_as_owner("SELECT active FROM webhooks_endpoint WHERE id = %s", [self.endpoint["id"]])[0][0]


@pytest.mark.timeout(7200)
def test_any_order_of_events_keeps_the_rules(long):
    amount = settings(
        max_examples=300 if long else 8, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
    )
    run_state_machine_as_test(Deliveries, settings=amount)
