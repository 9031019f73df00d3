"""SQL in and out: an analyst's text becomes a plan, and a plan becomes text for an engine."""
