"""One module per API group or kind: what its objects do differently (pkg/registry)."""
