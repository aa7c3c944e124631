"""The words of a tenant's name are stored beside it, folded, so that a search over many tenants folds none.

Safe: PostgreSQL computes the column, also for what the release before writes. The table, which has some thousands of rows, is
written anew under a lock.
"""

from typing import ClassVar

from django.db import migrations, models
from django.db.models.expressions import RawSQL

WORDS = (
    "' ' || regexp_replace(regexp_replace(replace(normalize(lower(name), NFKD), 'ß', 'ss'),"
    r" '[\u0300-\u036f]', '', 'g'), '[^[:alnum:]]+', ' ', 'g')"
)


class Migration(migrations.Migration):
    """One column."""

    dependencies: ClassVar = [("organizations", "0012_merged_suppliers")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="tenant",
            name="name_words",
            field=models.GeneratedField(
                db_persist=True,
                expression=RawSQL(WORDS, []),  # noqa: S611  # nosec B611 - a constant without parameters
                output_field=models.TextField(),
            ),
        ),
    ]
