"""What anybody may ask without a credential: the CapabilityStatement and the SMART configuration."""

import hashlib

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from api.operations import Operation
from fhir_api import answers
from fhir_api.capability import statement
from fhir_api.preconditions import is_unchanged
from fhir_api.resources import Json, written
from organizations.public import authorization_server

from .base import FhirViewSet

_MAX_AGE = "public, max-age=3600"


class MetadataViewSet(FhirViewSet):
    """Two documents about the server."""

    operations = {
        "capabilities": Operation(scope="", summary="Read the CapabilityStatement", tenant="none", public=True),
        "smart": Operation(scope="", summary="Read the SMART configuration", tenant="none", public=True),
    }

    def capabilities(self, request: HttpRequest) -> HttpResponse:
        """The CapabilityStatement; 304 where it is known. Source: R4 http.html#capabilities."""
        found = statement(settings.FHIR_BASE_URL, authorization_server()["issuer"])
        return _tagged(request, found)

    def smart(self, request: HttpRequest) -> HttpResponse:
        """The configuration of SMART App Launch 2.0, conformance.html."""
        server = authorization_server()
        found = {name: server[name] for name in _OF_SERVER if name in server}
        found["scopes_supported"] = [*server["scopes_supported"], *_SCOPES]
        answer = _tagged(request, {**found, "capabilities": list(_CAPABILITIES)})
        if answer.content:
            answer.headers["Content-Type"] = "application/json"
        return answer


_OF_SERVER = (
    "issuer",
    "jwks_uri",
    "authorization_endpoint",
    "token_endpoint",
    "revocation_endpoint",
    "introspection_endpoint",
    "grant_types_supported",
    "response_types_supported",
    "scopes_supported",
    "code_challenge_methods_supported",
    "token_endpoint_auth_methods_supported",
    "token_endpoint_auth_signing_alg_values_supported",
)
_CAPABILITIES = (
    "launch-standalone",
    "client-public",
    "client-confidential-symmetric",
    "client-confidential-asymmetric",
    "sso-openid-connect",
    "context-standalone-patient",
    "permission-offline",
    "permission-patient",
    "permission-user",
    "permission-v1",
    "permission-v2",
)
# The widest of each kind; narrower ones name a type and letters.
_SCOPES = ("launch/patient", "patient/*.cruds", "user/*.cruds", "system/*.cruds")


def _tagged(request: HttpRequest, document: Json) -> HttpResponse:
    tag = f'W/"{hashlib.sha256(written(document)).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": _MAX_AGE, "Access-Control-Allow-Origin": "*", "Vary": "Accept"}
    if is_unchanged(request, tag=tag, modified_seconds=2**40):
        return answers.respond(b"", status=304, headers=headers)
    return answers.of_resource(request, document, headers=headers)
