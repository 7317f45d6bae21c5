"""An index as a local web page and as MCP over HTTP, both guarded, from one process or several.

    request → service (probes, the end) → guard (limits, hosts, sites, token) → app (routes) →
    a page: search, sheet, CSV

- `searchpage`: query string → hits → what the template shows; `hitview`, `facets`, `marking`
- `sheetpage`: one sheet; `pieces` of its cells, which `blocks` reads and `grid` lays out
- `tablefile`: a table as a CSV file
- `render`: what is shown → HTML, by the templates in `pages/`
- `serving`: the socket and the server, `connection` one client's; nothing else serves HTTP
- `supervisor`: keeps several processes; each is a `worker`, which serves a `plan`
"""
