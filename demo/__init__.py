"""Discreet at work, in a few seconds: `make demo`."""
