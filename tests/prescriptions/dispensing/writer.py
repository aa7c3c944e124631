"""A process that dispenses once with a key and stops on the way: `writer.py HEADERS KEY TRIPS PATH`.

HEADERS is the JSON of the credential's headers. After so many round trips to PostgreSQL the process says so and waits to
be killed.
"""

import json
import sys
import time

import django


def main(headers: str, key: str, trips: str, path: str) -> None:
    """Set up the service in this process, and write."""
    django.setup()
    from django.test.utils import setup_test_environment

    from core import pipeline
    from tests.factories import Api

    setup_test_environment()
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
    answer = api.post(path, json={}, headers={"Idempotency-Key": key})
    print(answer.status_code, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
