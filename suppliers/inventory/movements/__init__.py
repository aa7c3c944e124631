"""What moves stock: adjustments and transfers, and the ledger of movements."""
