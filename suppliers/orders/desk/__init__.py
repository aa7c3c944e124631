"""Orders for staff: the timeline, counters beside what they come from, and the supplier's copy beside the buyer's row."""
