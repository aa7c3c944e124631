"""fhirclient, an independent reader of R4, agrees: it reads what is accepted here, and what it refuses is refused here."""

import copy
import json
from importlib import import_module

from fhirclient.models.fhirabstractbase import FHIRValidationError

from fhir_api.resources.types import NUMBERS
from fhir_api.validation import validate

from .resources import examples
from .test_mutations import MUTATORS, at, places

EACH = 17  # every so-manieth place of an example is broken
WAYS = ("remove", "rename", "in a list", "in an object", "out of a list", "as text", "empty object", "no such day")


def is_readable(resource):
    """Whether fhirclient reads the resource; one of its own bugs shows as NameError, where it meant to refuse."""
    module = import_module(f"fhirclient.models.{resource['resourceType'].lower()}")
    plain = json.loads(json.dumps(resource, default=float))
    try:
        getattr(module, resource["resourceType"])(plain)
    except (FHIRValidationError, NameError, TypeError, ValueError, AttributeError):
        return False
    return True


def is_in_another_type(resource, path):
    """Whether a place lies in a contained resource of a type that is not registered, which is not looked into."""
    return path[0] == "contained" and len(path) > 2 and resource["contained"][path[1]]["resourceType"] not in NUMBERS


def test_fhirclient_reads_every_example_that_is_accepted():
    found = examples()

    assert len(found) == 264
    assert [one["id"] for one in found if not is_readable(one)] == []


def test_what_fhirclient_refuses_is_refused():
    refused, disagreed = 0, []
    for example in examples():
        for number, path in enumerate(places(example)):
            way = WAYS[number % len(WAYS)]
            if number % EACH or path == ("resourceType",) or is_in_another_type(example, path):
                continue
            broken = copy.deepcopy(example)
            MUTATORS[way](at(broken, path[:-1]), path[-1], broken)
            if not is_readable(broken):
                refused += 1
                if not validate(broken):
                    disagreed.append((example["id"], path, way))

    assert refused > 300
    assert disagreed == []
