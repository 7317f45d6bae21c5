"""Safe opening of files, and checks of their containers, before any library reads them."""
