"""Reading processes, and the requests and answers exchanged with them."""
