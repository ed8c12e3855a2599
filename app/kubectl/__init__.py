"""kubectl's commands in process, over the same handlers as the HTTP API."""
