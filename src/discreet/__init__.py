"""Differential privacy with exact noise."""
