"""The API server: generic registry, strategies per kind, dispatch, discovery, tables."""
