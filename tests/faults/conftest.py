"""One service for all tests of this folder: starting it is most of their time."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from devtools.ports import check_port
from tests.faults.service import Service

VARIABLES = {
    "RATE_LIMIT_SUPPLIER_PER_MINUTE": "1000000",
    "RATE_LIMIT_SIGN_IN_PER_MINUTE": "10000",
    "RATE_LIMIT_ADDRESS_PER_MINUTE": "100000",
    "WEBHOOKS_TIMEOUT_SECONDS": "3",
}
RETRIES = "1,1,1,2,2,2,3,3,3,5,5,5,5,5,5"


@pytest.fixture(scope="session")
def service(request: pytest.FixtureRequest, long: bool) -> Iterator[Service]:
    """Run `./dev up` on an empty data folder; the ordinary run shortens the lease so that it need not wait it out.

    The folder is not pytest's: every start of another pytest closes that one to the account of root's PostgreSQL.
    """
    folder = Path(tempfile.mkdtemp(prefix="hp-faults-"))
    folder.chmod(0o711)
    variables = VARIABLES | {"WEBHOOKS_RETRY_SCHEDULE_SECONDS": RETRIES, "METRICS_PORT": str(check_port(0))}
    if not long:
        variables["WEBHOOKS_LEASE_SECONDS"] = "5"
    found = Service(folder=folder, variables=variables)
    try:
        found.start()
        yield found
    finally:
        if found.dev is not None:
            found.down()
        if request.session.testsfailed:
            print(f"the logs stay in {found.data / 'log'}")
        else:
            shutil.rmtree(folder)
