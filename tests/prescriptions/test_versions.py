"""If-Match on every step: what has changed since it was read is refused, and stays as it is."""

import pytest

from tests.prescriptions.ward import done, refused

STALE = {"If-Match": '"1"'}
# Step: who does it, the state before, the body.
STEPS = {
    "validate": ("prescriber", "validated", {}),
    "sign": ("prescriber", "validated", {}),
    "route": ("prescriber", "signed", {"pharmacy_location_id": "pharmacy"}),
    "token": ("prescriber", "signed", None),
    "cancel": ("prescriber", "routed", {"reason_code": "other"}),
    "acknowledge": ("pharmacist", "routed", None),
    "ready": ("pharmacist", "routed", None),
    "return": ("pharmacist", "routed", {"reason_code": "out_of_stock"}),
    "dispense": ("pharmacist", "routed", {}),
}


def in_state(ward, state):
    return {"validated": lambda: ward.act(ward.draft(), "validate"), "signed": ward.signed, "routed": ward.routed}[
        state
    ]()


@pytest.mark.parametrize("step", STEPS)
def test_step_on_a_version_that_is_gone_is_refused(ward, step):
    who, state, body = STEPS[step]
    one = in_state(ward, state)
    client = getattr(ward, who)
    body = body and {name: ward.pharmacy_id if value == "pharmacy" else value for name, value in body.items()}
    path = f"/v1/prescriptions/{one['id']}"
    before = client.get(path)
    found = refused(client.post(f"{path}/{step}", json=body, headers=STALE), 409, "version_conflict")
    assert found["current_version"] == one["version"]
    assert client.get(path).content == before.content
    done(
        client.post(f"{path}/{step}", json=body, headers={"If-Match": before.headers["ETag"]}),
        201 if step in {"token", "dispense"} else 200,
    )
