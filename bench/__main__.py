"""`./dev bench NAME [options]`: runs one benchmark; without a name, says which there are."""

import importlib
import sys

NAMES = (
    "http",
    "growth",
    "chaos",
    "webhooks",
    "fhir",
    "prescriptions",
    "bypasses",
    "compare",
    "fairness",
    "supply",
    "price",
    "order",
    "invoice",
    "analytics",
)


def main() -> int:
    """Hand the remaining arguments to the benchmark."""
    if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
        print(f"./dev bench {'|'.join(NAMES)} [--help]")
        return 2
    found: int = importlib.import_module(f"bench.{sys.argv[1]}").main(sys.argv[2:])
    return found


if __name__ == "__main__":
    sys.exit(main())
