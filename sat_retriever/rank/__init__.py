"""Stage 2: candidates in, the same sheets in a better order out."""
