"""Links: what they buy, how many are right, and how they scale."""
