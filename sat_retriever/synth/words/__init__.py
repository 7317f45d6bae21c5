"""Read the words of templates: lists, categories and naming conventions, as data files."""
