"""What a query may do in SQLite: an allow-list for its authorizer, as data.

SQLite asks for every action while it compiles a statement, so this also holds for SQL that no
parser of ours understands. A read-only file is not enough: ATTACH and VACUUM INTO still write
elsewhere (https://www.sqlite.org/c3ref/set_authorizer.html).
"""

import sqlite3

READS = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)

INTROSPECTION = frozenset(
    """
    table_info table_xinfo table_list index_list index_info index_xinfo foreign_key_list
    collation_list function_list
    """.split()
)
"""PRAGMAs that only describe the schema; they may take an argument."""

PLAIN_PRAGMAS = frozenset(
    """
    data_version schema_version user_version application_id encoding page_size page_count
    compile_options
    """.split()
)
"""PRAGMAs that only read when they have no argument."""

FUNCTIONS = frozenset(
    """
    abs changes char coalesce concat concat_ws format glob hex if ifnull iif instr last_insert_rowid
    length like likelihood likely lower ltrim max min nullif octet_length printf quote random
    randomblob replace round rtrim sign soundex sqlite_compileoption_get sqlite_compileoption_used
    sqlite_source_id sqlite_version substr substring total_changes trim typeof unhex unicode
    unistr unistr_quote unlikely upper zeroblob
    avg count group_concat string_agg sum total median percentile percentile_cont percentile_disc
    cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank
    row_number
    date time datetime julianday unixepoch strftime timediff current_date current_time
    current_timestamp
    acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10
    log2 mod pi pow power radians sin sinh sqrt tan tanh trunc
    json json_array json_array_insert json_array_length json_error_position json_extract
    json_group_array json_group_object json_insert json_object json_patch json_pretty json_quote
    json_remove json_replace json_set json_type json_valid -> ->>
    jsonb jsonb_array jsonb_array_insert jsonb_extract jsonb_group_array jsonb_group_object
    jsonb_insert jsonb_object jsonb_patch jsonb_remove jsonb_replace jsonb_set
    match regexp bm25 highlight snippet offsets matchinfo rtreedepth
    geopoly_area geopoly_bbox geopoly_contains_point geopoly_json geopoly_overlap geopoly_within
    subtype
    """.split()
)


_SCHEMA_TABLES = ("sqlite_master", "sqlite_schema")
_RTREE_TABLES = ("_node", "_rowid", "_parent")


def _compiled_only(action: int, table: str) -> bool:
    """Whether SQLite asks for this writing action itself, when it first opens a virtual table.

    It compiles an UPDATE of the schema for any of them (also `json_each`), and R*Tree compiles
    all its statements at once. None of them runs for a read; for a query of this form there
    remains what keeps any file from being written: `mode=ro`.
    """
    if action == sqlite3.SQLITE_UPDATE and table in _SCHEMA_TABLES:
        return True
    return action in _WRITES and table.endswith(_RTREE_TABLES)


class Authorizer:
    """The callback SQLite asks; remembers the last thing it refused, for the message."""

    def __init__(self) -> None:
        self.refused: str | None = None

    def __call__(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        """SQLITE_OK or SQLITE_DENY for one action of a statement that is being compiled."""
        if action == sqlite3.SQLITE_FUNCTION:
            allowed = (second or "").lower() in FUNCTIONS
        elif action == sqlite3.SQLITE_PRAGMA:
            name = (first or "").lower()
            allowed = name in INTROSPECTION or (name in PLAIN_PRAGMAS and second is None)
        else:
            allowed = action in READS or _compiled_only(action, first or "")
        if allowed:
            return sqlite3.SQLITE_OK
        self.refused = _describe(action, first, second)
        return sqlite3.SQLITE_DENY


_ACTIONS = """
    INSERT UPDATE DELETE ATTACH DETACH PRAGMA TRANSACTION SAVEPOINT ALTER_TABLE REINDEX ANALYZE
    CREATE_TABLE CREATE_INDEX CREATE_VIEW CREATE_TRIGGER CREATE_VTABLE
    CREATE_TEMP_TABLE CREATE_TEMP_INDEX CREATE_TEMP_VIEW CREATE_TEMP_TRIGGER
    DROP_TABLE DROP_INDEX DROP_VIEW DROP_TRIGGER DROP_VTABLE
    DROP_TEMP_TABLE DROP_TEMP_INDEX DROP_TEMP_VIEW DROP_TEMP_TRIGGER
    """.split()
_NAMES = {getattr(sqlite3, f"SQLITE_{name}"): name.replace("_", " ") for name in _ACTIONS}
_WRITES = {
    sqlite3.SQLITE_INSERT: "into",
    sqlite3.SQLITE_UPDATE: "of",
    sqlite3.SQLITE_DELETE: "from",
}


def _describe(action: int, first: str | None, second: str | None) -> str:
    if action == sqlite3.SQLITE_FUNCTION:
        return f"the function {second}() is not on the list of allowed functions"
    return f"{_deed(action, first or '', second or '')} is not allowed: queries may only read"


def _deed(action: int, first: str, second: str) -> str:
    if action in _WRITES and first in (*_SCHEMA_TABLES, "sqlite_temp_master"):
        # What SQLite asks first of all for CREATE, DROP and the rest of them.
        return "changing the schema (CREATE, ALTER, DROP)"
    if action == sqlite3.SQLITE_ATTACH and not first:
        return "ATTACH or VACUUM"
    what = _NAMES.get(action, f"action {action}")
    of = second if action == sqlite3.SQLITE_ALTER_TABLE else first
    return f"{what} {_WRITES.get(action, '')} {of}".replace("  ", " ").strip()
