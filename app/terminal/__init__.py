"""The shell of each simulated machine, run in a disposable child process."""
