"""Engines: text in, whole numbers and keys out."""

from discreet.engines.protocol import Engine, Progress

__all__ = ["Engine", "Progress"]
