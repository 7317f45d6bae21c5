"""Make labelled queries from facts about sheets; every relevant sheet is known."""
