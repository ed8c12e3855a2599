"""The database: people, labs, commands, results, and what graders read of them."""
