"""What a query may do in MySQL and MariaDB: lists of names, as data.

The server's own fences are a role that may only SELECT and a read-only transaction. They stop
neither `INTO OUTFILE` (a file), nor functions that wait, lock or read files.
"""

from modularsql.engines.reading import Manner

MANNER = Manner(
    dialect="mysql",
    explain=frozenset({"EXPLAIN", "DESCRIBE", "DESC"}),
    forbidden=(
        ("INTO",),  # OUTFILE, DUMPFILE and variables
        (":=",),
        ("FOR", "UPDATE"),
        ("FOR", "SHARE"),
        ("LOCK", "IN"),
        ("PROCEDURE",),
    ),
    # Comments that the server runs, and a "--" that is two signs to it where no blank follows.
    hides_in_gaps=r"/\*M?!|--(?=[^\s])",
)

FUNCTIONS = frozenset(
    """
    abs acos adddate add_months addtime aes_decrypt aes_encrypt any_value ascii asin atan atan2
    avg bin bin_to_uuid bit_and bit_count bit_length bit_or bit_xor cast ceil ceiling
    character_length char_length char charset chr coalesce coercibility collation column_check
    column_exists column_get column_json column_list compress concat concat_ws connection_id conv
    convert convert_tz cos cot count crc32 crc32c cume_dist curdate current_date current_role
    current_time current_timestamp current_user curtime database date date_add date_format
    date_sub datediff day dayname dayofmonth dayofweek dayofyear decode degrees dense_rank elt
    encode exists exp export_set extract extractvalue field find_in_set first_value floor format
    format_bytes format_pico_time found_rows from_base64 from_days from_unixtime get_format
    greatest group_concat grouping hex hour if ifnull inet6_aton inet6_ntoa inet_aton inet_ntoa
    insert instr interval is_ipv4 is_ipv4_compat is_ipv4_mapped is_ipv6 is_uuid isnull
    json_array json_array_append json_array_insert json_arrayagg json_compact json_contains
    json_contains_path json_depth json_detailed json_equals json_exists json_extract json_insert
    json_keys json_length json_loose json_merge json_merge_patch json_merge_preserve
    json_normalize json_object json_objectagg json_overlaps json_pretty json_query json_quote
    json_remove json_replace json_schema_valid json_schema_validation_report json_search json_set
    json_storage_free json_storage_size json_table json_type json_unquote json_valid json_value
    lag last_day last_value lcase lead least left length lengthb ln localtime localtimestamp
    locate log log10 log2 lower lpad ltrim make_set makedate maketime max md5 median microsecond
    mid min minute mod month monthname natural_sort_key now nth_value ntile nullif nvl nvl2 oct
    octet_length ord percent_rank percentile_cont percentile_disc period_add period_diff pi
    position pow power quarter quote radians rand random_bytes rank regexp_instr regexp_like
    regexp_replace regexp_substr repeat replace reverse right round row_number rpad rtrim schema
    sec_to_time second session_user sformat sha sha1 sha2 sign sin soundex space sqrt std stddev
    stddev_pop stddev_samp str_to_date strcmp subdate substr substring substring_index subtime
    sum sys_guid sysdate system_user tan time time_format time_to_sec timediff timestamp
    timestampadd timestampdiff to_base64 to_char to_days to_seconds trim truncate ucase
    uncompress uncompressed_length unhex unix_timestamp updatexml upper user utc_date utc_time
    utc_timestamp uuid uuid_short uuid_to_bin values var_pop var_samp variance version week
    weekday weekofyear weight_string year yearweek
    st_area st_asbinary st_asgeojson st_astext st_aswkb st_aswkt st_buffer st_centroid
    st_contains st_convexhull st_crosses st_difference st_dimension st_disjoint st_distance
    st_distance_sphere st_endpoint st_envelope st_equals st_exteriorring st_geohash
    st_geomcollfromtext st_geometryn st_geometrytype st_geomfromgeojson st_geomfromtext
    st_geomfromwkb st_interiorringn st_intersection st_intersects st_isclosed st_isempty
    st_issimple st_isvalid st_latitude st_length st_linefromtext st_longitude st_numgeometries
    st_numinteriorrings st_numpoints st_overlaps st_pointfromtext st_pointn st_polyfromtext
    st_simplify st_srid st_startpoint st_swapxy st_symdifference st_touches st_union st_validate
    st_within st_x st_y point linestring polygon multipoint multilinestring multipolygon
    geometrycollection mbrcontains mbrcoveredby mbrcovers mbrdisjoint mbrequals mbrintersects
    mbroverlaps mbrtouches mbrwithin
    match against gtid_subset gtid_subtract
    """.split()
)
"""Functions of the servers that only compute; others are refused where they are called.

Left out on purpose: `sleep`, `benchmark`, `load_file`, `get_lock` and its kin, everything that
waits for replication, `last_insert_id` and `nextval`, `encrypt` (it calls the system), and what
an administrator loaded as a library.
"""

KEYWORDS = frozenset("sleep benchmark load_file get_lock last_insert_id".split())
"""Never allowed, whatever kind of word our tokenizer takes them for."""

STORED = """
    SELECT LOWER(routine_name), sql_data_access FROM information_schema.routines
    WHERE routine_type = 'FUNCTION'
    """
"""The stored functions of all databases, with what they say they do."""

READING = frozenset({"READS SQL DATA", "NO SQL"})

SAFE_GRANTS = frozenset({"SELECT", "SHOW VIEW", "USAGE", "SHOW DATABASES", "PROCESS", "EXECUTE"})
