"""A clinic that speaks to the running service over a socket; imports stand inside, since Django is not set up yet."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Clinic:
    """Where the service listens, and a token that is bound to one tenant."""

    base: str
    token: str


@pytest.fixture(scope="session")
def fhir_base(service_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run the real front with the address that its links shall bear."""
    from devtools import parts
    from devtools.ports import answers, check_port
    from tests.conftest import part, wait

    port = check_port(0)
    address = f"http://127.0.0.1:{port}"
    variables = service_environment | {"FHIR_BASE_URL": f"{address}/fhir/R4"}
    with part(parts.web_command(port=port, workers=1), variables, tmp_path_factory.mktemp("fhir")) as child:
        wait(child, lambda: answers(port))
        yield f"{address}/fhir/R4"


@pytest.fixture
def clinic(fhir_base: str) -> Clinic:
    """A new provider whose nurse uses an app."""
    from tests.factories import bearer, member, provision

    tenant = provision("provider")
    nurse, _ = member(tenant, ["nurse"])
    return Clinic(fhir_base, bearer(nurse, tenant=tenant, scopes="healthcare.read healthcare.write"))
