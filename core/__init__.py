"""Ground floor: actor, errors, ids, clock, money, crypto, database words. No tables, no HTTP."""
