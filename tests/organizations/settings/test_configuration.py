"""Settings: merge, layers, locks, versions, races."""

import threading
from datetime import timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from django.db import Error, connection, transaction

from core import pipeline
from core.clock import now
from core.db import tenant_context
from ledger.models import Event
from organizations import configuration_schema
from organizations.actions.configuration import set_organization_configuration
from organizations.models import ConfigurationVersion, Organization, Tenant, TenantConfiguration
from organizations.public import effective_configuration, policies_call, policies_of, policy
from organizations.queries.configuration import visible
from tests.factories import Api, actor_of, as_member, bearer, member, organization, provision


def path(tenant):
    return f"/v1/tenants/{tenant.id}/configuration"


def own(tenant):
    with tenant_context(tenant.id):
        row = TenantConfiguration.objects.get(tenant_id=tenant.id)
        versions = list(ConfigurationVersion.objects.filter(tenant_id=tenant.id).order_by("number"))
    return row, versions


def test_configuration_of_a_new_tenant_is_the_default():
    tenant = provision()
    answer = as_member(tenant).get(path(tenant))
    assert (answer.status_code, answer.headers["ETag"]) == (200, '"1"')
    data = answer.json()["data"]
    assert {name: data[name] for name in ("policies", "modules", "branding")} == configuration_schema.defaults()
    assert (data["own"], data["locked"]) == ([], [])


def test_patch_merges_and_null_takes_back():
    tenant = provision()
    api = as_member(tenant)
    first = api.patch(path(tenant), json={"policies": {"max_days_supply": 30, "require_cancel_reason": "all"}})
    assert (first.status_code, first.headers["ETag"]) == (200, '"2"')
    second = api.patch(path(tenant), json={"policies": {"max_days_supply": None}})
    assert second.json()["data"]["own"] == ["policies.require_cancel_reason"]
    assert second.json()["data"]["policies"]["max_days_supply"] is None
    third = api.patch(path(tenant), json={"policies": None})
    assert third.json()["data"]["policies"] == configuration_schema.defaults()["policies"]
    row, versions = own(tenant)
    assert row.version == 4
    assert Tenant.objects.get(id=tenant.id).settings_version == 4
    assert [one.diff for one in versions] == [
        [
            {"key": "policies.max_days_supply", "before": None, "after": 30},
            {"key": "policies.require_cancel_reason", "before": None, "after": "all"},
        ],
        [{"key": "policies.max_days_supply", "before": 30, "after": None}],
        [{"key": "policies.require_cancel_reason", "before": "all", "after": None}],
    ]
    with tenant_context(tenant.id):
        facts = Event.objects.filter(tenant_id=tenant.id, type="configuration.updated").order_by("id")
        assert next((fact.resource_version, fact.data) for fact in facts) == (
            2,
            {"keys": ["policies.max_days_supply", "policies.require_cancel_reason"]},
        )


def test_patch_of_nothing_makes_no_version():
    tenant = provision()
    answer = as_member(tenant).patch(path(tenant), json={"branding": {}})
    assert (answer.status_code, answer.headers["ETag"]) == (200, '"1"')
    assert own(tenant)[1] == []


@pytest.mark.parametrize(
    ("body", "field", "code"),
    [
        ({"policies": {"no_such_policy": 1}}, "policies.no_such_policy", "unknown_field"),
        ({"policies": {"early_refill_ratio": "1.5"}}, "policies.early_refill_ratio", "invalid"),
        ({"policies": {"early_refill_ratio": 0.75}}, "policies.early_refill_ratio", "invalid_type"),
        ({"policies": {"early_refill_ratio": "0.75\n"}}, "policies.early_refill_ratio", "invalid"),
        ({"policies": {"max_days_supply": 30.0}}, "policies.max_days_supply", "invalid_type"),
        ({"policies": {"prescription_validity_days": 0}}, "policies.prescription_validity_days", "min_value"),
        ({"policies": {"prescription_validity_days": True}}, "policies.prescription_validity_days", "invalid_type"),
        ({"policies": {"fhir_write_scope": "all"}}, "policies.fhir_write_scope", "invalid_choice"),
        ({"policies": {"fhir_vital_signs": "none"}}, "policies.fhir_vital_signs", "invalid_choice"),
        ({"policies": {"default_pharmacy_location_id": "x"}}, "policies.default_pharmacy_location_id", "invalid"),
        ({"policies": {"approval_steps": [{"over_amount": "1"}]}}, "policies.approval_steps.0.approvals", "required"),
        ({"policies": {"prescription_expiring_days": 91}}, "policies.prescription_expiring_days", "max_value"),
        ({"policies": {"late_dispense_hours": -1}}, "policies.late_dispense_hours", "min_value"),
        ({"policies": {"validation_max_age_hours": "24"}}, "policies.validation_max_age_hours", "invalid_type"),
        ({"policies": {"dose_contraindicated_factor": "0.5"}}, "policies.dose_contraindicated_factor", "invalid"),
        ({"policies": {"controlled_step_up_seconds": 59}}, "policies.controlled_step_up_seconds", "min_value"),
        ({"policies": {"controlled_step_up_seconds": 3601}}, "policies.controlled_step_up_seconds", "max_value"),
        ({"policies": {"controlled_max_fills": 0}}, "policies.controlled_max_fills", "min_value"),
        ({"policies": {"controlled_words_required": "yes"}}, "policies.controlled_words_required", "invalid_type"),
        ({"policies": {"appointment_slot_minutes": 4}}, "policies.appointment_slot_minutes", "min_value"),
        ({"policies": {"appointment_reminder_minutes": [0]}}, "policies.appointment_reminder_minutes.0", "min_value"),
        ({"policies": {"appointment_reminder_minutes": [5, 5]}}, "policies.appointment_reminder_minutes", "invalid"),
        ({"policies": {"holidays": ["2026-02-30"]}}, "policies.holidays.0", "invalid"),
        ({"policies": {"external_signing_roots": ["no PEM"]}}, "policies.external_signing_roots.0", "invalid"),
        ({"policies": {"max_quantity": [{"value": "1", "unit": "g"}]}}, "policies.max_quantity.0", "invalid"),
        (
            {"policies": {"max_quantity": [{"code": "1", "schedule": "II", "value": "1", "unit": "g"}]}},
            "policies.max_quantity.0",
            "invalid",
        ),
        (
            {"policies": {"max_quantity": [{"code": "1", "value": "0", "unit": "g"}]}},
            "policies.max_quantity.0.value",
            "invalid",
        ),
        ({"policies": {"max_quantity": [{"code": "1", "value": "1"}]}}, "policies.max_quantity.0.unit", "required"),
        ({"policies": 5}, "policies", "invalid_type"),
        ({"modules": {"teleportation": True}}, "modules.teleportation", "unknown_field"),
        ({"branding": {"primary_color": "red"}}, "branding.primary_color", "invalid"),
        ({"branding": {"primary_color": "#FFFF00"}}, "branding.primary_color", "contrast_too_low"),
        ({"branding": {"support_email": "nobody"}}, "branding.support_email", "invalid"),
        ({"colours": {}}, "colours", "unknown_field"),
    ],
)
def test_patch_refuses_wrong_settings_and_changes_nothing(body, field, code):
    tenant = provision()
    answer = as_member(tenant).patch(path(tenant), json=body)
    assert answer.status_code == 400
    assert [(fault["field"], fault["code"]) for fault in answer.json()["errors"]] == [(field, code)]
    row, versions = own(tenant)
    assert (row.version, versions) == (1, [])


def _certificate():
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Root")])
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(7).not_valid_before(now()).not_valid_after(now() + timedelta(days=1))
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode(), secret.decode()


def test_roots_of_signatures_are_certificates_and_hold_no_private_key():
    tenant = provision()
    root, secret = _certificate()
    api = as_member(tenant)

    for text in (secret, root + secret, secret + root, root + root, root[:-60]):
        answer = api.patch(path(tenant), json={"policies": {"external_signing_roots": [text]}})
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "policies.external_signing_roots.0")
        assert secret[30:60] not in answer.content.decode()
    good = api.patch(path(tenant), json={"policies": {"external_signing_roots": [root]}})
    assert good.json()["data"]["policies"]["external_signing_roots"] == [root]


# Source: contract, organizations.md "Policy keys"; those of prescriptions and appointments.
CLINICAL = {
    "prescription_validity_days": 365,
    "controlled_validity_days": 30,
    "prescription_expiring_days": 7,
    "early_refill_ratio": "0.75",
    "late_dispense_hours": 24,
    "max_days_supply": None,
    "max_quantity": [],
    "free_text_medication_allowed": False,
    "validation_max_age_hours": 24,
    "dose_contraindicated_factor": "3",
    "require_cancel_reason": "controlled",
    "covering_prescriber_may_cancel": False,
    "allow_contraindicated_override": False,
    "dispensing_prescriber_allowed": False,
    "auditor_reads_prescriptions": False,
    "controlled_step_up_seconds": 300,
    "controlled_max_fills": 1,
    "controlled_words_required": True,
    "controlled_witness_required": False,
    "external_signing_roots": [],
    "dispense_reversal_hours": 24,
    "lot_number_required_on_dispense": False,
    "default_pharmacy_location_id": None,
    "appointment_slot_minutes": 15,
    "appointment_reminder_minutes": [1440],
    "holidays": [],
}


def test_policies_of_prescriptions_and_appointments_have_the_defaults_of_the_contract():
    defaults = configuration_schema.defaults()["policies"]

    assert {key: defaults[key] for key in CLINICAL} == CLINICAL


def test_policies_of_prescriptions_and_appointments_can_be_set():
    tenant = provision()
    wanted = {
        "prescription_expiring_days": 0,
        "max_quantity": [
            {"code": "1049221", "value": "30.5", "unit": "{tbl}"},
            {"schedule": "II", "value": "0.5", "unit": "g", "hard": True},
        ],
        "dose_contraindicated_factor": "1.5",
        "controlled_step_up_seconds": 60,
        "appointment_reminder_minutes": [],
        "holidays": ["2028-02-29"],
    }

    answer = as_member(tenant).patch(path(tenant), json={"policies": wanted})

    assert answer.status_code == 200
    assert {key: answer.json()["data"]["policies"][key] for key in wanted} == wanted


def test_policies_of_another_tenant_are_read_while_it_is_bound():
    owner, pharmacy = provision(), provision("pharmacy")
    as_member(owner).patch(path(owner), json={"policies": {"dispense_reversal_hours": 1}})

    with tenant_context(pharmacy.id):
        with tenant_context(owner.id):
            (rows,) = pipeline.run([policies_call(owner.id)])
            assert policies_of(rows)["dispense_reversal_hours"] == 1
        (own_rows, hidden) = pipeline.run([policies_call(pharmacy.id), policies_call(owner.id)])
    assert policies_of(own_rows)["dispense_reversal_hours"] == 24
    assert policies_of(hidden)["dispense_reversal_hours"] == 24


def test_two_patches_with_one_if_match_give_one_conflict():
    tenant = provision()
    person, _ = member(tenant, ["tenant_admin"])
    answers, gate = [], threading.Barrier(2)

    def worker(days):
        api = Api(token=bearer(person), tenant=tenant)
        gate.wait()
        body = {"policies": {"prescription_validity_days": days}}
        answers.append(api.patch(path(tenant), json=body, headers={"If-Match": '"1"'}))
        connection.close()

    threads = [threading.Thread(target=worker, args=(days,)) for days in (100, 200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    lost = next(answer for answer in answers if answer.status_code == 409).json()
    assert (lost["code"], lost["current_version"]) == ("version_conflict", 2)
    row, versions = own(tenant)
    assert (row.version, len(versions)) == (2, 1)


@pytest.mark.parametrize(
    "statement",
    ["UPDATE organizations_configurationversion SET diff = '[]'", "DELETE FROM organizations_configurationversion"],
)
def test_versions_are_never_changed(statement):
    tenant = provision()
    as_member(tenant).patch(path(tenant), json={"policies": {"max_days_supply": 30}})
    with pytest.raises(Error), tenant_context(tenant.id), connection.cursor() as cursor:
        cursor.execute(statement)
    assert len(own(tenant)[1]) == 1


def test_layers_from_the_root_down_and_locks():
    root = organization("Root")
    hospital = organization("Hospital", parent=root)
    tenant = provision(under=hospital)
    api = as_member(tenant)
    api.patch(path(tenant), json={"policies": {"max_days_supply": 10, "dispense_reversal_hours": 1}})
    with transaction.atomic():
        set_organization_configuration(
            organization=root,
            changes={"policies": {"max_days_supply": 90, "dispense_reversal_hours": 48, "controlled_validity_days": 7}},
            locked=["policies.max_days_supply"],
            at=now(),
        )
        set_organization_configuration(
            organization=hospital,
            changes={"policies": {"max_days_supply": 60, "controlled_validity_days": 14}},
            locked=None,
            at=now(),
        )
    data = api.get(path(tenant)).json()["data"]
    assert data["policies"]["max_days_supply"] == 90
    assert data["policies"]["controlled_validity_days"] == 14
    assert data["policies"]["dispense_reversal_hours"] == 1
    assert (data["own"], data["locked"]) == (["policies.dispense_reversal_hours"], ["policies.max_days_supply"])
    refused = api.patch(path(tenant), json={"policies": {"max_days_supply": 20}})
    assert (refused.status_code, refused.json()["code"]) == (403, "setting_locked")
    assert refused.json()["locked"] == ["policies.max_days_supply"]


def test_module_that_the_plan_lacks_cannot_be_turned_on():
    tenant = provision(plan="free")
    refused = as_member(tenant).patch(path(tenant), json={"modules": {"fhir": True}})
    assert (refused.status_code, refused.json()["code"], refused.json()["feature"]) == (
        403,
        "feature_not_enabled",
        "fhir",
    )
    assert as_member(tenant).get(path(tenant)).json()["data"]["modules"]["fhir"] is False


def test_module_turned_off_leaves_the_features_of_the_tenant():
    tenant = provision()
    api = as_member(tenant)
    assert "fhir" in Tenant.objects.get(id=tenant.id).features
    assert api.patch(path(tenant), json={"modules": {"fhir": False}}).status_code == 200
    assert "fhir" not in Tenant.objects.get(id=tenant.id).features
    assert api.patch(path(tenant), json={"modules": {"fhir": None}}).status_code == 200
    assert "fhir" in Tenant.objects.get(id=tenant.id).features


def test_secret_keys_are_hidden_from_those_who_may_not_configure():
    shown = visible(configuration_schema.defaults(), to_configurers=False)
    assert "invoice_auto_approve_limit" not in shown["policies"]
    assert visible(configuration_schema.defaults(), to_configurers=True) == configuration_schema.defaults()


def test_policy_answers_the_value_in_effect():
    tenant = provision()
    as_member(tenant).patch(path(tenant), json={"policies": {"early_refill_ratio": "0.5"}})
    actor = actor_of(tenant)
    with tenant_context(tenant.id):
        assert policy(actor, "early_refill_ratio") == "0.5"
        assert effective_configuration(tenant.id).values["policies"]["event_payload_mode"] == "thin"
        with pytest.raises(KeyError):
            policy(actor, "no_such_policy")


def test_configuration_of_another_tenant_is_not_found():
    tenant, other = provision(), provision()
    api = as_member(tenant)
    assert api.get(path(other)).status_code == 404
    assert api.patch(path(other), json={"policies": {"max_days_supply": 1}}).status_code == 404
    assert own(other)[0].version == 1


def test_organization_administrator_reaches_the_tenants_below():
    root = organization("Root")
    above, below = provision(under=root), provision(under=organization("Ward", parent=root))
    api = as_member(above, ["org_admin"])
    answer = api.patch(path(below), json={"policies": {"max_days_supply": 5}})
    assert (answer.status_code, answer.json()["data"]["tenant_id"]) == (200, str(below.id))
    assert own(below)[1][0].diff == [{"key": "policies.max_days_supply", "before": None, "after": 5}]
    assert own(above)[0].version == 1


def test_configuration_is_read_without_a_tenant_header_by_a_member_of_several():
    first, second = provision(), provision()
    person, _ = member(first, ["tenant_admin"])
    member(second, ["tenant_admin"], person=person)
    api = Api(token=bearer(person))
    assert [api.get(path(tenant)).status_code for tenant in (first, second, provision())] == [200, 200, 404]


def test_configuration_needs_its_scope():
    tenant = provision()
    answer = as_member(tenant, ["prescriber"]).get(path(tenant))
    assert (answer.status_code, answer.json()["code"]) == (403, "insufficient_scope")


def test_organization_settings_are_checked_and_unknown_locks_refused():
    node = Organization.objects.get(id=organization("Root").id)
    with pytest.raises(Exception, match="not valid"), transaction.atomic():
        set_organization_configuration(organization=node, changes={}, locked=["policies.nothing"], at=now())
    with pytest.raises(Exception, match="not valid"), transaction.atomic():
        set_organization_configuration(organization=node, changes={"policies": {"x": 1}}, locked=None, at=now())


@pytest.mark.parametrize(
    ("one", "other", "ratio"), [("#000000", "#FFFFFF", 21.0), ("#FFFFFF", "#FFFFFF", 1.0), ("#777777", "#FFFFFF", 4.48)]
)
def test_contrast_is_that_of_the_standard(one, other, ratio):
    assert round(configuration_schema.contrast(one, other), 2) == ratio


def test_defaults_hold_against_their_own_schema():
    defaults = configuration_schema.defaults()
    assert configuration_schema.faults(defaults) == []
    assert configuration_schema.contrast_faults(defaults["branding"]) == []
