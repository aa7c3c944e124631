"""`manage.py fhir_access`: answers an auditor who read patients' data, when, and why; and keeps the log's months."""

import json
from argparse import ArgumentParser
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from core import clock
from core.db import tenant_context
from core.history.partitions import Busy
from core.ids import parse_uuid
from fhir_api.access.models import SHOWN, AccessRecord
from fhir_api.access.queries import MOST, Question, records
from fhir_api.access.upkeep import keep_records
from organizations.public import tenant_named

UNTOLD = timedelta(days=30)
FIRST, LAST = datetime(1900, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)


class Command(BaseCommand):
    """Reads the access log of one tenant."""

    help = "Show who read patients' data of a tenant, newest first; or, with --keep, make and drop months of the log."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("--tenant", help="slug or id")
        parser.add_argument("--patient", default="", help="id of a Patient: only what concerned him")
        parser.add_argument("--subject", default="", help="id of a person or service: only what it read")
        parser.add_argument("--since", default="", help="ISO 8601; 30 days ago unless given")
        parser.add_argument("--until", default="", help="ISO 8601; now unless given")
        parser.add_argument("--break-glass", action="store_true", help="only reads with a reason of emergency")
        parser.add_argument("--limit", type=int, default=100, help=f"at most {MOST}")
        parser.add_argument("--keep", action="store_true", help="do what the hourly task does")
        parser.add_argument("--json", action="store_true", help="answer with JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Answer.

        :raises CommandError: an option makes no sense, or the upkeep could not run.
        """
        answer = self._keep() if options["keep"] else self._ask(options)
        self.stdout.write(json.dumps(answer, default=str) if options["json"] else _said(answer))

    def _keep(self) -> dict[str, Any]:
        try:
            return keep_records(at=clock.now()).as_json()
        except (Busy, ImproperlyConfigured) as error:
            raise CommandError(str(error)) from error
        except DatabaseError as error:
            raise CommandError(f"database: {str(error).strip().splitlines()[0]}") from error

    def _ask(self, options: dict[str, Any]) -> dict[str, Any]:
        tenant_id = tenant_named(options["tenant"] or "")
        if tenant_id is None:
            raise CommandError(f"There is no tenant {options['tenant']!r}.")
        subject = parse_uuid(options["subject"]) if options["subject"] else None
        if options["subject"] and subject is None:
            raise CommandError("--subject takes an id.")
        if options["limit"] < 1:
            raise CommandError("--limit takes a whole number from 1 up.")
        since, until = _span(options["since"], options["until"])
        question = Question(
            since=since,
            until=until,
            patient=options["patient"],
            subject_id=subject,
            emergencies=options["break_glass"],
            limit=options["limit"],
        )
        with tenant_context(tenant_id):
            found = records(tenant_id, question)
        return {"tenant_id": str(tenant_id), "records": [_shown(row) for row in found]}


def _span(since: str, until: str) -> tuple[datetime, datetime]:
    end = _moment("--until", until) or clock.now() + timedelta(minutes=1)
    begin = _moment("--since", since) or end - UNTOLD
    if begin >= end:
        raise CommandError("--since is before --until.")
    return begin, end


def _moment(name: str, text: str) -> datetime | None:
    """A moment from FIRST on, so that whatever is reckoned from it is in the calendar, too."""
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise CommandError(f"{name} takes a date or time of ISO 8601.") from error
    found = found if found.tzinfo else found.replace(tzinfo=UTC)
    if not FIRST <= found <= LAST:
        raise CommandError(f"{name} lies between {FIRST:%Y-%m-%d} and {LAST:%Y-%m-%d}.")
    return found


def _shown(row: AccessRecord) -> dict[str, Any]:
    return {name: getattr(row, name) for name in SHOWN} | {"created_at": clock.rfc3339(row.created_at)}


def _said(answer: dict[str, Any]) -> str:
    if "records" not in answer:
        return f"{len(answer['made'])} made, {len(answer['dropped'])} dropped, strays: {answer['strays'] or 'none'}"
    return "\n".join([*map(_line, answer["records"]), f"{len(answer['records'])} records"])


def _line(row: dict[str, Any]) -> str:
    what = "/".join(part for part in (row["resource_type"], row["resource_id"]) if part) or "all types"
    asked = f" by {', '.join(row['parameters'])}" if row["parameters"] else ""
    emergency = f"  EMERGENCY: {row['reason']}" if row["reason"] else ""
    who = f"{row['subject_kind']} {row['subject_id']} ({row['credential']})"
    whose = f"{len(row['patients'])} patients" if len(row["patients"]) != 1 else f"patient {row['patients'][0]}"
    return f"{row['created_at']}  {row['outcome']} {row['interaction']} {what}{asked}, {whose}; {who}{emergency}"
