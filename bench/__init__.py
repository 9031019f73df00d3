"""Discreet side by side with its peers: `python -m bench` or `make bench`."""
