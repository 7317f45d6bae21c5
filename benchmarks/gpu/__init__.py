"""What a GPU makes of the paper's recipe."""
