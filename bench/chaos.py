"""`./dev bench chaos`: a long storm over a service of its own, and the count of what was lost: none, or the exit says so.

The same storm as in `tests/faults`, with more strikes and a faster producer, and the lease of production.
"""

import argparse
import itertools
import shutil
import sys
import tempfile
from pathlib import Path

from bench import javascript
from tests.faults.chaos import ORDINARY, Storm, rage
from tests.faults.conftest import RETRIES, VARIABLES
from tests.faults.service import Service
from tests.faults.verdicts import judge


def main(arguments: list[str]) -> int:
    """Start a service, let the storm rage, judge, and print."""
    parser = argparse.ArgumentParser(prog="./dev bench chaos", description=__doc__)
    parser.add_argument(
        "--strikes", type=int, default=36, help="kills and restarts in all; two of three kill the workers"
    )
    parser.add_argument("--per-second", type=float, default=40, help="transactions begun each second")
    parser.add_argument("--lease", type=float, default=20, help="WEBHOOKS_LEASE_SECONDS")
    parser.add_argument("--keep", action="store_true", help="leave the data folder with its logs")
    options = parser.parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="hp-chaos-"))
    folder.chmod(0o711)
    variables = VARIABLES | {"WEBHOOKS_RETRY_SCHEDULE_SECONDS": RETRIES, "WEBHOOKS_LEASE_SECONDS": str(options.lease)}
    service = Service(folder=folder, variables=variables)
    try:
        print(f"service ready after {service.start():.0f} s in {folder}", flush=True)
        return storm_over(service, strikes=options.strikes, per_second=options.per_second)
    finally:
        if service.dev is not None:
            service.down()
        if not options.keep:
            shutil.rmtree(folder)


def storm_over(service: Service, *, strikes: int, per_second: float) -> int:
    """Run one storm; return 1 if anything is not as it must be."""
    with Storm(service, per_second=per_second) as storm:
        outcome = rage(storm, list(itertools.islice(itertools.cycle(ORDINARY), strikes)))
        findings = judge(storm.evidence, storm.kept())
        print(outcome.shown())
        print(
            f"PyPI standardwebhooks: {sum(a.verified for a in storm.evidence.arrivals)} of {len(storm.requests)} good"
        )
        try:
            good = sum(javascript.verdicts(storm.requests, [storm.secret]))
            print(f"npm standardwebhooks: {good} of {len(storm.requests)} good")
        except javascript.Unavailable as reason:
            good = len(storm.requests)
            print(f"npm standardwebhooks: not asked, {reason}")
    if good < len(storm.requests):
        findings.append(f"refused by the npm package: {len(storm.requests) - good}")
    print("\n".join(findings) or f"lost 0, ghosts 0, stuck 0, doubled {outcome.duplicates}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
