"""The library on disk: rows, the ledger of work, pictures, full text, vectors, the entity graph, and SQL for a model.

Enters: rows as `model` defines them, scopes, words and vectors of questions. Leaves: rows and hits, never more than the
scope sees. Knows nothing of media, of models, or of what makes an answer.

`protocol` says what a store can do, `sqlite` does it, out of these parts: `database` (the file, transactions, errors),
`migrations` and `schema` (tables), `videos`, `rows`, `drafts`, `ledger`, `calls` (what is in them), `scope` (what a query
may see), `pictures`, `leases` (one process at a time on a video), `checks` (doctor), `views` (read-only SQL), `searching`
with `fulltext` and `vectors`, `graph` with `entities` and `entity_names`.
"""
