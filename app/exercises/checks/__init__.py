"""Check kinds, one module each."""
