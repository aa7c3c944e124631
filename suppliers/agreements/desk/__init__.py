"""Price agreements for staff: versions with what differs, who accepted, lines beside their copies, and the state buttons."""
