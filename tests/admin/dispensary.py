"""What tests of the pages of prescriptions share: looks, pages, buttons, and rows that only time could make."""

import re

from core.db import tenant_context
from fhir_api.access.models import AccessRecord
from ledger.models import Event as Fact
from tests.admin.people import REASON, act_in, signed_in
from tests.prescriptions.ward import RXNORM, done

PREFIX = "/admin/prescriptions"
LIST = f"{PREFIX}/prescription/"
WARFARIN = {"system": RXNORM, "code": "855332", "display": "Warfarin Sodium 5 MG Oral Tablet"}
IBUPROFEN = {"system": RXNORM, "code": "197806", "display": "Ibuprofen 600 MG Oral Tablet"}
SECRETS = ("Muster", "Hauptstr", "Secret knee")


def looks(tenant):
    with tenant_context(tenant.id):
        rows = AccessRecord.objects.filter(tenant_id=tenant.id, interaction="staff")
        return list(rows.order_by("created_at", "id"))


def page(browser, path=""):
    answer = browser.get(f"{PREFIX}/{path}")
    assert answer.status_code == 200, answer.content[-500:]
    return answer.content.decode()


def press(person, tenant, path, **more):
    chosen = signed_in(person=person)
    act_in(chosen, tenant)
    return chosen.post(f"{PREFIX}/{path}", {"reason": REASON, **more}, follow=True)


def facts(person):
    rows = Fact.objects.using("platform").filter(subject_id=person.pk).exclude(type__startswith="staff_access")
    return [
        (row.type, row.data.get("action", ""), row.data.get("reason", "")) for row in rows.order_by("occurred_at", "id")
    ]


def aged(model, which, **values):
    """Set what only time or the other party could set."""
    assert model.objects.using("owner").filter(**which).update(**values) == 1


def dispense(both, one, **line):
    """Dispense what the line says of the only item."""
    return done(both.at_pharmacy(one, "dispense", lines=[{"item_id": one["items"][0]["id"], **line}]), 201)


def reverse(both, one, given, reason_code):
    """Reverse a dispensation."""
    return done(both.at_pharmacy(one, f"dispensations/{given['id']}/reverse", reason_code=reason_code))


def cell_texts(text, name):
    """The cells of a table, row by row."""
    body = re.search(rf'id="{name}">.*?<tbody>(.*?)</tbody>', text, re.DOTALL)[1]
    return [
        [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<td.*?</td>", row)] for row in body.split("</tr>")[:-1]
    ]
