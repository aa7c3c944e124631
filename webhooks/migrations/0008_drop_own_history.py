"""Lets the function that drops old ranges drop the webhooks' own alone: other rooms have ranges now, and rules of their own.

Safe: it replaces a function and touches no table.
"""

from importlib import import_module

from django.db import migrations

_BEFORE = import_module("webhooks.migrations.0006_history_functions").DROP.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")
_KNOWN = "PERFORM hp_history_known(parent);"
_OWN = """PERFORM hp_history_known(parent);
  IF parent NOT LIKE 'webhooks!_%' ESCAPE '!' THEN
    RAISE EXCEPTION '% is not of the webhooks', parent USING ERRCODE = 'insufficient_privilege';
  END IF;"""


class Migration(migrations.Migration):
    """One function."""

    dependencies = [("webhooks", "0007_meters")]

    operations = [migrations.RunSQL([_BEFORE.replace(_KNOWN, _OWN, 1)], [_BEFORE])]
