"""Run one training loop for every model: epochs, checkpoints, resuming, and the run folder."""
