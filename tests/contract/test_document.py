"""The document as a product: every operation is named, explained, shown by example and complete in its refusals."""

import re

import pytest

from api.openapi.naming import operation_id, plural, request_name, tag, words
from api.openapi.problems import schema_of
from tests.architecture import declared
from tests.contract.document import (
    codes,
    document,
    lines,
    only_of,
    operations,
    resolve,
    used_components,
    validator,
)

pytestmark = pytest.mark.untraced

MOST_LINES = 120
MOST_LINES_WITH_COMPONENTS = (
    140  # on average: documents of two parties have representations of their own for either side
)
USUAL_REFUSALS = 12  # signing and dispensing, which judge the most, have more, each with two lines of its own
PROBLEM = "application/problem+json"
OPERATIONS = list(operations())


def media_of(response):
    """The JSON of a response, None where it has no body."""
    content = resolve(response).get("content", {"": None})
    return content["application/json"] if "application/json" in content else next(iter(content.values()))


def examples_of(media):
    if "example" in media:
        return [media["example"]]
    return [resolve(example)["value"] for example in media.get("examples", {}).values()]


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_operation_is_named_and_explained(operation):
    content = operation.content
    assert re.fullmatch(r"[a-z]+([A-Z][a-z]*)*", content["operationId"])
    assert content["summary"]
    assert content["description"]
    (tag_name,) = content["tags"]
    assert tag_name in {one["name"] for one in document()["tags"]}


def test_operation_ids_differ():
    ids = [operation.content["operationId"] for operation in OPERATIONS]
    sent = [item["post"]["operationId"] for item in document()["webhooks"].values()]
    assert len({*ids, *sent}) == len(ids) + len(sent)


def test_every_group_has_a_text_and_an_operation():
    used = {operation.content["tags"][0] for operation in OPERATIONS}
    used |= {item["post"]["tags"][0] for item in document()["webhooks"].values()}
    assert {one["name"] for one in document()["tags"]} == used
    assert all(one["description"] for one in document()["tags"])


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_success_is_a_component_with_an_example_of_its_schema(operation):
    answered = [status for status in operation.content["responses"] if status.startswith("2")]
    assert answered
    for status in answered:
        response = operation.content["responses"][status]
        assert "$ref" in response
        media = media_of(response)
        assert (media is None) == (status == "204")
        if media is not None:
            assert set(media["schema"]) <= {"$ref", "oneOf"}
            shown = examples_of(media)
            assert shown
            for example in shown:
                validator(media["schema"]).validate(example)


def test_answers_to_api_keys_and_to_tokens_are_both_of_the_schema():
    seen = set()
    for (method, path), one in declared.operations().items():
        if one.listing or one.items or one.status == 204 or not path.startswith("/v1/webhooks"):
            continue
        answers = document()["paths"][path][method.lower()]["responses"]
        (answer,) = (response for status, response in answers.items() if status.startswith("2"))
        media = media_of(answer)
        (example,) = examples_of(media)
        assert "success" not in example
        for envelope in ({}, {"success": True}):
            validator(media["schema"]).validate(envelope | example)
        assert "success" in resolve(media["schema"])["properties"]
        seen.add((method, path))
    assert {("POST", "/v1/webhooks"), ("GET", "/v1/webhooks/{id}"), ("POST", "/v1/webhooks/{id}/rotate-secret")} <= seen


def test_put_that_creates_under_the_caller_s_code_says_so():
    creating = [(method, path) for (method, path), one in declared.operations().items() if one.upsert]
    assert ("PUT", "/v1/pricing-rules/{code}") in creating
    for method, path in creating:
        assert {"200", "201"} <= set(document()["paths"][path][method.lower()]["responses"]), path


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_every_code_of_every_refusal_has_an_example(operation):
    refused = {status: one for status, one in operation.content["responses"].items() if status >= "4"}
    assert {"400", "406", "429", "503"} <= set(refused)
    for status, response in refused.items():
        media = media_of(response)
        shown = {example["code"]: example for example in examples_of(media)}
        assert set(shown) == codes(response)
        for example in shown.values():
            assert example["status"] == int(status)
            validator(media["schema"]).validate(example)


@pytest.mark.parametrize("operation", [one for one in OPERATIONS if "requestBody" in one.content], ids=str)
def test_body_is_a_component_with_an_example(operation):
    content = operation.content["requestBody"]["content"]
    assert [*content] in (["application/json"], ["application/json", "multipart/form-data"])
    for media in content.values():
        assert set(media["schema"]) == {"$ref"}
        assert resolve(media["schema"])["additionalProperties"] is False
        validator(media["schema"]).validate(media["example"])


def test_members_of_a_representation_are_required():
    for name in ("Product", "Location", "WebhookEndpoint", "ApiKey", "Tenant"):
        schema = document()["components"]["schemas"][name]
        optional = set(schema["properties"]) - set(schema["required"])
        assert optional == ({"prices", "stock"} if name == "Product" else set())


def test_extension_members_of_codes_are_declared():
    schemas = document()["components"]["schemas"]
    transition = schemas["InvalidTransitionProblem"]["allOf"][1]
    assert transition["required"] == ["code", "from", "action", "allowed"]
    version = schemas["VersionConflictProblem"]["allOf"][1]["properties"]["current_version"]
    assert version == {"type": ["integer", "null"]}
    assert "near_matches" in schemas["ValidationErrorProblem"]["allOf"][1]["properties"]
    assert schemas["ValidationErrorProblem"]["allOf"][1]["required"] == ["code"]
    assert schemas["RateLimitedProblem"]["allOf"][1]["required"] == ["code", "retry_after", "violated-policies"]
    assert schemas["InsufficientScopeProblem"]["allOf"][1]["properties"]["required"]["type"] == "array"


def test_problem_with_another_code_is_not_of_the_schema():
    conflict = next(one for one in OPERATIONS if one.content["operationId"] == "replaceProduct").content["responses"][
        "409"
    ]
    media = media_of(conflict)
    example = {**examples_of(media)[0], "code": "something_else"}
    assert not validator(media["schema"]).is_valid(example)


def test_nothing_is_declared_and_not_used():
    assert used_components(document()) == document()["components"]


def test_webhook_operations_take_either_credential():
    schemes = document()["components"]["securitySchemes"]
    for operation in OPERATIONS:
        named = {name for one in operation.content["security"] for name in one}
        assert named <= set(schemes)
        if operation.path.startswith("/v1/webhooks"):
            assert named == {"bearer", "oauth", "apiKey"}


def test_messages_are_signed():
    for item in document()["webhooks"].values():
        assert item["post"]["security"] == [{"webhookSignature": []}]
        names = [resolve(one)["name"] for one in item["post"]["parameters"]]
        assert names == ["webhook-id", "webhook-timestamp", "webhook-signature"]


def beyond_usual(operation):
    """Lines that an operation may have for refusals beyond the usual number."""
    contents = (one.get("content", {}).get(PROBLEM, {}) for one in operation.content["responses"].values())
    return 2 * max(0, sum(len(one.get("examples", {})) for one in contents) - USUAL_REFUSALS)


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_operation_takes_few_lines(operation):
    assert lines({"operation": operation.content}) - 1 <= MOST_LINES + beyond_usual(operation)


def test_a_further_operation_adds_few_lines_on_average():
    """With the components that only it uses: its representation, its body, its own codes."""
    sample = OPERATIONS[::8]
    added = [lines(only_of(one)) - beyond_usual(one) for one in sample]
    assert sum(added) / len(sample) <= MOST_LINES_WITH_COMPONENTS, added


@pytest.mark.parametrize(
    ("noun", "several"),
    [
        ("Product", "Products"),
        ("Category", "Categories"),
        ("Key", "Keys"),
        ("Address", "Addresses"),
        ("Batch", "Batches"),
    ],
)
def test_plural(noun, several):
    assert plural(noun) == several


@pytest.mark.parametrize(
    ("serializer", "partial", "name"),
    [
        ("ProductIn", False, "ProductRequest"),
        ("ProductCreateIn", False, "ProductCreateRequest"),
        ("LocationIn", True, "LocationPatch"),
        ("MembershipPatchIn", True, "MembershipPatch"),
        ("SignInIn", False, "SignInRequest"),
        ("WebhookEndpoint", True, "WebhookEndpointPatch"),
    ],
)
def test_names_of_bodies(serializer, partial, name):
    assert request_name(serializer, partial=partial) == name


class Exceptional:
    """A viewset that names what the rule would spell badly."""

    tag = "Goods"
    operation_ids = {"stats": "getFigures"}


def test_names_by_rule_and_by_exception():
    plain = object()
    assert operation_id(plain, "list", "Product", listed=True, reads=True) == "listProducts"
    assert operation_id(plain, "update", "Product", listed=False, reads=False) == "replaceProduct"
    assert operation_id(plain, "redeliver", "WebhookDelivery", listed=False, reads=False) == "redeliverWebhookDelivery"
    assert operation_id(Exceptional(), "stats", "Product", listed=False, reads=True) == "getFigures"
    assert tag(plain, "/v1/api-keys/{id}") == "API keys"
    assert tag(Exceptional(), "/v1/products") == "Goods"
    assert words("WebhookEndpoint") == "webhook endpoint"


def test_schema_of_an_example_value():
    assert schema_of({"a": ["b"]}) == {
        "type": "object",
        "additionalProperties": {"type": "array", "items": {"type": "string"}},
    }
    assert schema_of((7, None)) == {"type": ["integer", "null"]}
    assert schema_of(True) == {"type": "boolean"}
