"""Every quota that plans sell is counted somewhere: a key that nobody consumes is a limit that does not hold."""

import ast
import importlib
from pathlib import Path

from organizations.plans import PERIODIC, QUOTA_KEYS

ROOT = Path(__file__).parents[3]
PACKAGES = (
    "organizations",
    "webhooks",
    "fhir_api",
    "prescriptions",
    "appointments",
    "suppliers",
    "procurement",
    "ledger",
)


def keys_of(*functions):
    """The keys with which the service calls one of the functions, with the module of each call."""
    found = {}
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            name = ".".join(file.relative_to(ROOT).with_suffix("").parts)
            for call in (node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)):
                if getattr(call.func, "id", getattr(call.func, "attr", "")) not in functions:
                    continue
                keyed = [one.value for one in call.keywords if one.arg == "key"] or call.args[1:2]
                for node in keyed:
                    if value := value_of(node, name):
                        found.setdefault(value, set()).add(name)
    return found


def value_of(node, name):
    """The text that a call passes; "" where it passes on a parameter of its own."""
    if isinstance(node, ast.Constant):
        return node.value
    try:
        return eval(compile(ast.Expression(node), name, "eval"), vars(importlib.import_module(name)))
    except NameError:
        return ""


def test_every_quota_of_the_plans_is_consumed():
    assert set(keys_of("consume_quota", "quota_call")) == set(QUOTA_KEYS)


def test_what_can_be_given_up_is_released():
    assert set(keys_of("release_quota")) >= set(QUOTA_KEYS) - PERIODIC
