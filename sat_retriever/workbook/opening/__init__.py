"""Files opened safely, and their containers checked, before any library reads them."""
