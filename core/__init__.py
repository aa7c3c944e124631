"""What every app builds on: actor, errors, ids, clock, money, encryption, database access. No tables, no HTTP."""
