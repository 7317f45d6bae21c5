"""Search an index: a question is scored against every sheet, and candidates come out."""
