"""What every endpoint shares; knows no tenant table."""
