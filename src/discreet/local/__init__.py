"""The local model: no curator at all. Each device randomizes its own answer before sending it."""
