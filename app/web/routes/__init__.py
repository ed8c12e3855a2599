"""Routes, one module an audience."""
