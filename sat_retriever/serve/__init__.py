"""An index as a local web page and as MCP over HTTP, both from one guarded process.

    request → guard (limits, hosts, sites, token) → app (routes) → a page: search, sheet, CSV

- `searchpage`: query string → hits → what the template shows; `hitview`, `facets`, `marking`
- `sheetpage`: one sheet; `pieces` of its cells, which `blocks` reads and `grid` lays out
- `tablefile`: a table as a CSV file
- `render`: what is shown → HTML, by the templates in `pages/`
- `serving`: the socket and the server; nothing else in this package serves HTTP
"""
