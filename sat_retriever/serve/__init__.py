"""An index as a local web page, as JSON and as MCP over HTTP, guarded, from one process or several.

    request → service (probes, the end) → guard (hosts, sites, limits, access) → app (routes) →
    a page: search, sheet, CSV; or a tool: JSON

- `searchpage`: query string → hits → what the template shows; `facets` narrows
- `sheetpage`: one sheet; `pieces` of its cells, which `blocks` reads and `grid` lays out
- `request`: parameters of a query string, and addresses of pages
- `app`: the routes of the pages; `responses`: HTML by the templates in `pages/`, JSON, errors
- `api`: requests → tools → JSON, `openapi` describes it; `asking` answers in words
- `serving`: the socket and the server; nothing else serves HTTP
- `supervisor`: keeps several processes; each is a `worker`, which serves a `plan`
"""
