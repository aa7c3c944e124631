"""Keys and checkpoints in the admin: how they stand, and the alarm on gaps."""

import re
from datetime import timedelta

from django.contrib.admin.utils import quote
from django.db import connections, transaction

from core.clock import now
from core.db import tenant_context
from organizations.models import SigningKey
from organizations.signing_keys import ensure_keys, mark_compromised
from prescriptions.models import (
    Checkpoint,
)
from tests import factories
from tests.admin.dispensary import page
from tests.admin.people import act_in, signed_in
from tests.prescriptions.ward import ward

# -- keys and checkpoints ----------------------------------------------------------------------------------------------


def checkpoint(tenant, number, at, previous=""):
    with tenant_context(tenant.id):
        return Checkpoint.objects.create(
            tenant=tenant, number=number, previous=previous, size=1, root="0" * 64, at=at, jws="x", kid="k", digest=f"{number:064}"
        )  # fmt: skip


_AGE = "UPDATE prescriptions_auditentry SET occurred_at = occurred_at - interval '3 hours' WHERE tenant_id = %s"


def gaps(browser):
    text = page(browser, "checkpoint/")
    return re.findall(r'data-kind="(\w+)"', text)


def test_changes_without_a_checkpoint_raise_the_alarm():
    both = ward()
    clinic = both.clinic.tenant
    browser = signed_in()
    act_in(browser, clinic)
    both.draft()
    assert gaps(browser) == []
    with transaction.atomic("owner"), connections["owner"].cursor() as cursor:
        cursor.execute("SELECT set_config('hp.may_change', 'prescriptions_auditentry', true)")
        cursor.execute(_AGE, [clinic.id])
    assert gaps(browser) == ["late"]
    assert clinic.name in signed_in("security").get("/admin/").content.decode()
    assert clinic.name not in re.sub(r"(?s)<nav.*?</nav>", "", signed_in("support").get("/admin/").content.decode())

    checkpoint(clinic, 1, now() - timedelta(hours=2))
    assert gaps(browser) == []
    assert clinic.name not in signed_in("security").get("/admin/").content.decode()


def test_missing_and_unlinked_checkpoints_are_told():
    tenant = factories.provision("provider")
    browser = signed_in()
    act_in(browser, tenant)
    first = checkpoint(tenant, 1, now() - timedelta(hours=5))
    second = checkpoint(tenant, 2, now() - timedelta(hours=4), previous=first.digest)
    assert gaps(browser) == []
    fourth = checkpoint(tenant, 4, now() - timedelta(hours=2), previous=second.digest)
    checkpoint(tenant, 5, now() - timedelta(hours=1), previous="f" * 64)
    assert gaps(browser) == ["unlinked", "missing"]
    assert "checkpoint 4" in page(browser, f"checkpoint/{fourth.pk}/change/")


def test_keys_are_told_by_purpose():
    ensure_keys()
    text = signed_in("security").get("/admin/organizations/signingkey/").content.decode()
    for purpose in ("token", "snapshot", "checkpoint"):
        part = re.search(rf'<section id="purpose-{purpose}">.*?</section>', text, re.DOTALL)[0]
        assert " signs since " in part
        assert re.search(r"Published</span><span[^>]*>[1-9]\d* of [1-9]\d*<", part)
    assert signed_in("support").get("/admin/organizations/signingkey/").status_code == 403


def test_compromised_key_is_published_no_more():
    ensure_keys()
    kid = SigningKey.objects.get(purpose="checkpoint", status="active").kid
    with transaction.atomic():
        mark_compromised(kid, purpose="checkpoint", at=now())
    browser = signed_in("security")
    base = "/admin/organizations/signingkey/"
    assert kid in browser.get(f"{base}?standing=compromised").content.decode()
    assert f">{kid}<" not in browser.get(f"{base}?standing=published&purpose__exact=checkpoint").content.decode()
    text = browser.get(f"{base}{quote(kid)}/change/").content.decode()
    assert "BEGIN PUBLIC KEY" in text
    assert "PRIVATE" not in text
    assert "compromised" in text
