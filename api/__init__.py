"""The parts that all endpoints share; no tenant table is known here."""
