"""What the API server refuses, kind by kind and in its own words (pkg/apis/*/validation)."""
