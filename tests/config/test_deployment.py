"""`deploy/`: the same parts everywhere, each with its probe, and no right that it does not need."""

import itertools
import re
import shlex

import pytest
import yaml

from devtools import parts
from devtools.places import ROOT

DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
MANIFESTS = [
    found for file in sorted((DEPLOY / "kubernetes").glob("*.yaml")) for found in yaml.safe_load_all(file.read_text())
]
PARTS = ("web", "worker", "bulk", "dispatcher", "beat")
PULSES = {"worker": "celery", "bulk": "bulk", "dispatcher": "webhooks", "beat": "beat"}
DIGEST = re.compile(r"^[a-z0-9./-]+:[\w.-]+@sha256:[0-9a-f]{64}$")


def pods():
    return {one["metadata"]["name"]: one["spec"]["template"]["spec"] for one in MANIFESTS if "template" in one["spec"]}


def options(words):
    flags = {word for word in words if word.startswith("--no-") or word == "--respawn-failed-workers"}
    return {name: value for name, value in itertools.pairwise(words) if name.startswith("--") and name not in flags} | {
        "": flags
    }


@pytest.mark.parametrize(
    ("script", "command", "ours"),
    [
        ("web", parts.web_command(port=8000, workers=2), {"--host", "--workers"}),
        ("worker", parts.worker_command(queues="celery", processes=2), {"--concurrency"}),
        ("bulk", parts.worker_command(queues="bulk", processes=2), {"--concurrency"}),
        ("dispatcher", parts.worker_command(queues="webhooks", processes=1), {"--concurrency"}),
    ],
)
def test_scripts_start_what_up_starts(script, command, ours):
    text = re.sub(r"\$\{\w+:-(\w+)\}", r"\1", (DEPLOY / script).read_text())
    words = shlex.split(text[text.index("exec") :].replace("\\\n", " "))
    theirs, here = options(words), options(command)
    for name in {name for name in here if name.startswith("--")} - ours:
        assert theirs[name] == here[name], name
    assert theirs[""] == here[""]
    assert ours <= theirs.keys()


def test_every_place_runs_every_part_by_its_own_process():
    assert {f"/app/deploy/{part}" for part in PARTS} <= {
        one["command"][0] for one in COMPOSE["services"].values() if "command" in one
    }
    assert {name: spec["containers"][0]["command"] for name, spec in pods().items()} == {
        **{f"hp-{part}": [f"/app/deploy/{part}"] for part in PARTS},
        "hp-prepare": ["python", "manage.py", "prepare", "--no-demo"],
    }


@pytest.mark.parametrize("part", PULSES)
def test_parts_without_a_port_are_asked_for_their_pulse(part):
    probe = ["python", "-m", "config.pulse", PULSES[part]]
    assert COMPOSE["services"][part]["healthcheck"]["test"] == ["CMD", *probe]
    container = pods()[f"hp-{part}"]["containers"][0]
    assert [container[name]["exec"]["command"] for name in ("startupProbe", "livenessProbe")] == [probe, probe]


def test_only_the_preparing_job_may_own_the_schema():
    holders = {name for name, one in COMPOSE["services"].items() if "OWNER" in str(one.get("environment"))}
    assert holders == {"postgres", "prepare"}
    assert all(
        ".env" not in str(one.get("env_file")).replace("service.env", "") for one in COMPOSE["services"].values()
    )
    assert {name for name, spec in pods().items() if "hp-owner" in str(spec)} == {"hp-prepare"}


def test_images_are_pinned_by_digest():
    others = {name: one["image"] for name, one in COMPOSE["services"].items() if "build" not in one}
    assert set(others) == {"proxy", "postgres", "valkey"}
    bases = re.findall(r"^FROM (\S+)", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    assert len(set(bases)) == 1
    assert [image for image in [*others.values(), *bases] if not DIGEST.match(image)] == []


def test_compose_is_reached_through_tls_alone():
    assert {name for name, one in COMPOSE["services"].items() if "ports" in one} == {"proxy"}
    assert COMPOSE["services"]["web"]["environment"]["TRUSTED_PROXY_COUNT"] == "1"


def test_pods_have_no_token_and_no_right_beyond_their_work():
    for name, spec in pods().items():
        assert spec["automountServiceAccountToken"] is False, name
        assert spec["securityContext"]["runAsNonRoot"] is True, name
        for container in spec["containers"]:
            assert container["securityContext"]["readOnlyRootFilesystem"] is True, name
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}, name


def test_network_is_closed_but_for_what_is_named():
    policies = {one["metadata"]["name"]: one["spec"] for one in MANIFESTS if one["kind"] == "NetworkPolicy"}
    assert policies["hp-nothing-else"] == {
        "podSelector": {"matchLabels": {"app": "hp"}},
        "policyTypes": ["Ingress", "Egress"],
    }
    for spec in pods().values():
        assert spec["containers"][0]["image"].startswith("healthcare-platform:")
    labels = [one["spec"]["template"]["metadata"]["labels"] for one in MANIFESTS if "template" in one["spec"]]
    assert all(one["app"] == "hp" for one in labels)
    outside = policies["hp-outside"]["egress"][0]["to"][0]["ipBlock"]
    assert {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"} <= set(outside["except"])
