"""Train both stages: plain loops under accelerate; retrieval needs no module of this package."""
