"""The definitions and theorems of differential privacy, executable."""
