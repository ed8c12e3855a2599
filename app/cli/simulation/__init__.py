"""What `cka-lab simulate` is made of: reading, running the engine, accounts of decisions, their printed form."""
