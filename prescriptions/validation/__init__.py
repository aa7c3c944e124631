"""Clinical validation: rules, and their runs."""
