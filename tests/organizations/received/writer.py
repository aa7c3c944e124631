"""A process that writes to parcels of two parties until it is killed: `writer.py HEADERS KEY TRIPS PATH…`.

HEADERS is the JSON of the credential's headers. With a number of TRIPS, the process stops in its first write after so
many round trips to PostgreSQL, says so and waits; with 0 it goes on writing, to one path after the other.
"""

import itertools
import json
import sys
import time

import django


def main(headers: str, key: str, trips: str, *paths: str) -> None:
    """Set up the service in this process, with the tests' document, and write."""
    django.setup()
    from django.conf import settings
    from django.test.utils import setup_test_environment

    from core import pipeline
    from tests.factories import Api
    from tests.organizations.received import parcel_views, tables

    setup_test_environment()
    tables.know_models()
    settings.ROOT_URLCONF = parcel_views.__name__
    made = 0

    def count(seconds: float) -> None:
        nonlocal made
        made += 1
        if made == int(trips):
            print("stopped", flush=True)
            time.sleep(600)

    pipeline.observers.append(count)
    api = Api()
    api.headers = json.loads(headers)
    for number, path in enumerate(itertools.cycle(paths)):
        answer = api.post(path, headers={"Idempotency-Key": f"{key}-{number}"})
        print(answer.status_code, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
