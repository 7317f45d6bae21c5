"""Find the right worksheets: records, tokens, candidates and ranked sheets."""
