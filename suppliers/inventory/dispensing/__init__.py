"""Stock taken by dispensing: what pharmacies hand over leaves their shelves, and comes back when it is reversed."""
