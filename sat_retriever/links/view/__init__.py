"""Links to look at: networkx, JSON, GraphML and a page."""
