"""The prescription itself: its rows, the lock, one change of it, its history, its routes and the copies of pharmacies."""
