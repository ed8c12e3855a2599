"""Why a decision came out as it did, and what would change it. Pure, like the engine that it asks."""
