"""The form of the sums whose marks are written.

Safe: a column with a constant. From here on the release before cannot write marks: its task that sums up roll-ups fails until its
workers end, and its metrics read the rows that stand apart, as always. Nothing is lost, and what it has summed up stays.
"""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    """One column."""

    dependencies: ClassVar = [("suppliers", "0046_folded_figures")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="rollupmark", name="form", field=models.SmallIntegerField(default=2), preserve_default=False
        ),
    ]
