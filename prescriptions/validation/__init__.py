"""Clinical validation: what its rules look up, the rules and their runs."""
