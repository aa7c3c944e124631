"""Lets every unique key of the webhooks hold the tenant, and names the table that may change by the trigger's argument.

Safe: each new key holds the columns of the old one, so it holds for the rows that there are. The keys are built while the
tables are locked; a long history takes as long as its indexes.
"""

from importlib import import_module

from django.db import migrations, models

_functions = import_module("webhooks.migrations.0006_history_functions")

# Each as migration 0006 made it, and as it is now.
_CHANGED = [
    (
        _functions.MOVE,
        _functions.MOVE.replace("'hp.may_change', rest,", "'hp.may_change', parent,"),
    ),
    (
        _functions.EXPUNGE,
        _functions.EXPUNGE.replace("'hp.may_change', part.relname,", "'hp.may_change', part.parent,", 1).replace(
            "'hp.may_change', part.relname,", "'hp.may_change', 'webhooks_attempt',"
        ),
    ),
]
_UNIQUE = {
    "delivery": ("webhooks_delivery_once", ("event_id", "endpoint", "created_at")),
    "endpointhour": ("webhooks_hour_once", ("endpoint_id", "hour")),
    "eventbody": ("webhooks_event_body_once", ("created_at", "event_id", "api_version", "payload_mode")),
}


def _replaced(text):
    return text.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")


class Migration(migrations.Migration):
    """Four unique keys and two functions."""

    dependencies = [
        ("organizations", "0003_one_patient"),
        ("webhooks", "0010_choices_and_help_texts"),
    ]

    operations = [
        *(migrations.RemoveConstraint(model_name=model, name=name) for model, (name, _) in _UNIQUE.items()),
        migrations.RemoveConstraint(model_name="replay", name="webhooks_replay_one"),
        *(
            migrations.AddConstraint(
                model_name=model, constraint=models.UniqueConstraint(fields=(*fields, "tenant_id"), name=name)
            )
            for model, (name, fields) in _UNIQUE.items()
        ),
        migrations.AddConstraint(
            model_name="replay",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ["queued", "running"])),
                fields=("endpoint", "tenant"),
                name="webhooks_replay_one",
            ),
        ),
        *(migrations.RunSQL(_replaced(now), _replaced(before)) for before, now in _CHANGED),
    ]
