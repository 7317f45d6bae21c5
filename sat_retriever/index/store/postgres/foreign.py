"""Refuse a schema that others changed, or may change: its statements would run what they wrote.

Catalogues alone are read, so that nothing in the schema runs while it is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence

from sat_retriever.errors import IndexFormatError
from sat_retriever.index.store.place import IndexUrl
from sat_retriever.index.store.postgres.rowsecurity import FUNCTIONS
from sat_retriever.index.store.postgres.session import PostgresSession

# What stands in a table's place, hangs on it, or lends it rows. Triggers of foreign keys are
# internal, and the rule of a view is its query.
_BESIDE_TABLES = """
    SELECT CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view'
        WHEN 'f' THEN 'foreign table' ELSE 'partitioned table' END, c.relname
    FROM own c WHERE c.relkind IN ('v', 'm', 'f', 'p') AND c.relname = ANY (?)
    UNION ALL SELECT 'trigger', t.tgname FROM pg_trigger t JOIN own c ON c.oid = t.tgrelid
    WHERE NOT t.tgisinternal
    UNION ALL SELECT 'rule', r.rulename FROM pg_rewrite r JOIN own c ON c.oid = r.ev_class
    WHERE c.relkind = 'r'
    UNION ALL SELECT 'table with the rows of', c.relname
    FROM pg_inherits i JOIN own c ON c.oid = i.inhparent
"""
# What a statement could run in the place of what the server has.
_IN_SCHEMA = """
    SELECT 'operator', o.oprname FROM pg_operator o, space s WHERE o.oprnamespace = s.oid
        AND ('pg_operator'::regclass, o.oid) NOT IN (SELECT * FROM extensions)
    UNION ALL SELECT 'function', p.proname FROM pg_proc p, space s WHERE p.pronamespace = s.oid
        AND (p.proname, p.prosrc) NOT IN (SELECT * FROM unnest(?::text[], ?::text[]))
        AND ('pg_proc'::regclass, p.oid) NOT IN (SELECT * FROM extensions)
"""
# What policies, defaults, conditions, views and indexes call. The server's own functions leave no
# dependency.
_CALLED = """
    SELECT CASE d.classid WHEN 'pg_policy'::regclass THEN 'policy' ELSE 'definition' END
        || ' that calls', coalesce(p.proname, o.oprname)
    FROM pg_depend d
    LEFT JOIN pg_proc p ON d.refclassid = 'pg_proc'::regclass AND p.oid = d.refobjid
    LEFT JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
    WHERE (p.oid IS NOT NULL OR o.oid IS NOT NULL)
        AND (d.refclassid, d.refobjid) NOT IN (SELECT * FROM extensions)
        AND (d.classid, d.objid) IN (
            SELECT 'pg_policy'::regclass, x.oid FROM pg_policy x JOIN own ON own.oid = polrelid
            UNION ALL SELECT 'pg_attrdef'::regclass, x.oid
            FROM pg_attrdef x JOIN own ON own.oid = adrelid
            UNION ALL SELECT 'pg_constraint'::regclass, x.oid
            FROM pg_constraint x JOIN own ON own.oid = conrelid
            UNION ALL SELECT 'pg_rewrite'::regclass, x.oid
            FROM pg_rewrite x JOIN own ON own.oid = ev_class
            UNION ALL SELECT 'pg_class'::regclass, indexrelid
            FROM pg_index JOIN own ON own.oid = indrelid
        )
"""
_FOREIGN = f"""
    WITH space AS (SELECT to_regnamespace(?) AS oid), own AS (
        SELECT c.* FROM pg_class c JOIN space s ON c.relnamespace = s.oid
        WHERE c.relname = ANY (?) OR c.relname = 'seen_workbooks'
    ), extensions AS (SELECT classid, objid FROM pg_depend WHERE deptype = 'e')
    SELECT kind, name FROM (
        SELECT 1, * FROM ({_BESIDE_TABLES}) a
        UNION ALL SELECT 2, * FROM ({_IN_SCHEMA}) b
        UNION ALL SELECT 3, * FROM ({_CALLED}) c
    ) found (place, kind, name) ORDER BY place, kind, name LIMIT 1
"""
# Owners of the schema and of the tables are trusted, and superusers may do all anyway.
_OTHERS = """
    SELECT coalesce(r.rolname, 'PUBLIC') FROM pg_namespace n
    CROSS JOIN aclexplode(n.nspacl) a
    LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = 'sheets'
    LEFT JOIN pg_roles r ON r.oid = a.grantee
    WHERE n.oid = to_regnamespace(?) AND a.privilege_type = 'CREATE'
        AND a.grantee NOT IN (n.nspowner, coalesce(c.relowner, current_user::regrole))
        AND NOT coalesce(r.rolsuper, false)
    ORDER BY 1 LIMIT 1
"""


def check_own(session: PostgresSession, url: IndexUrl, tables: Sequence[str]) -> None:
    """Refuse a schema with what no index has, or in which others may create."""
    bodies = [text.partition("$$")[2].rpartition("$$")[0] for text in FUNCTIONS.values()]
    names = [name.partition("(")[0] for name in FUNCTIONS]
    place = f'"{url.namespace}"'
    values = (place, list(tables), list(tables), names, bodies)
    found = session.execute(_FOREIGN, values).fetchone()
    if found:
        raise IndexFormatError(
            f"{url} holds a {found[0]} {str(found[1])[:100]!r}, which no index of this package "
            "has: it was changed by others; index the folder anew into another schema"
        )
    other = session.execute(_OTHERS, (place,)).fetchone()
    if other:
        raise IndexFormatError(
            f"{other[0]} may create in the schema of {url}, and so have statements of others run "
            "as whoever searches; index the folder into a schema of its own, or run: "
            f"REVOKE CREATE ON SCHEMA {place} FROM {other[0]}"
        )
