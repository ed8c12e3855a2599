"""Controllers, one module each; they meet only in the store."""
