"""The faces of the clinical record, by the segments of their addresses."""
