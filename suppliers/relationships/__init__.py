"""How a buyer stands to its suppliers: its relationship to each, and suppliers that only it knows."""
