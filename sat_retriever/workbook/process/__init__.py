"""Reading processes: what is asked of them, and what they answer."""
