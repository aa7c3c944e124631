"""Formats of dates and times on pages: as in ISO 8601, in UTC."""

DATE_FORMAT = "Y-m-d"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = "Y-m-d H:i:s T"
