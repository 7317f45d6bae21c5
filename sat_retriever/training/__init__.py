"""Training of both stages: plain loops under accelerate; the online path needs none of it."""
