"""Output formats: table, wide, yaml, jsonpath, custom columns."""
