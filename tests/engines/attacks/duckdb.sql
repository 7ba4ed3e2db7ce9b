-- # writes

-- refused: insert or replace
INSERT OR REPLACE INTO k VALUES (2)

-- refused: merge
MERGE INTO k USING (SELECT 2 AS v) AS s ON k.v = s.v WHEN NOT MATCHED THEN INSERT VALUES (2)

-- refused: truncate
TRUNCATE k

-- # tables, views and other objects

-- refused: temporary macro
CREATE TEMP MACRO abs(x) AS 99

-- refused: macro
CREATE MACRO twice(x) AS 2 * x

-- refused: type
CREATE TYPE mood AS ENUM ('happy')

-- refused: sequence
CREATE TEMP SEQUENCE s

-- refused: schema
CREATE SCHEMA new_schema

-- refused: secret
CREATE SECRET s (TYPE S3, KEY_ID 'x', SECRET 'y')

-- refused: persistent secret
CREATE PERSISTENT SECRET s (TYPE S3, KEY_ID 'x', SECRET 'y')

-- # files and other databases

-- refused: copy to a file
COPY k TO '$FOLDER/new.csv'

-- refused: copy a query to a file
COPY (SELECT 1) TO '$FOLDER/new.parquet' (FORMAT parquet)

-- refused: copy from a file
COPY k FROM '$FOLDER/secret.csv'

-- refused: copy a database
COPY FROM DATABASE k TO memory

-- refused: export
EXPORT DATABASE '$FOLDER/export'

-- refused: import
IMPORT DATABASE '$FOLDER/export'

-- # code: loaded, prepared, in a text

-- refused: install
INSTALL httpfs

-- refused: install from a folder
INSTALL '$FOLDER/new.duckdb_extension'

-- refused: load
LOAD httpfs

-- refused: load from a folder
LOAD '$FOLDER/new.duckdb_extension'

-- # files and other databases

-- refused: attach of another kind
ATTACH '$FOLDER/other.db' AS o (TYPE sqlite)

-- refused: attach read-only
ATTACH '$FOLDER/other.db' AS o (READ_ONLY)

-- refused: use
USE memory

-- # settings and upkeep

-- refused: checkpoint
CHECKPOINT

-- refused: force checkpoint
FORCE CHECKPOINT

-- refused: set
SET threads = 1

-- refused: set external access
SET enable_external_access = true

-- refused: set memory
SET GLOBAL memory_limit = '100GB'

-- refused: set search path
SET search_path = 'temp'

-- refused: set variable
SET VARIABLE x = 1

-- refused: reset
RESET memory_limit

-- refused: call
CALL pragma_version()

-- refused: call that enables
CALL enable_logging()

-- refused: profiling into a file
PRAGMA profile_output = '$FOLDER/new.json'

-- refused: pragma that writes
PRAGMA force_checkpoint

-- refused: database list
PRAGMA database_list

-- # code: loaded, prepared, in a text

-- refused: prepare
PREPARE p AS DELETE FROM k

-- refused: execute
EXECUTE p

-- refused: deallocate
DEALLOCATE p

-- # writes

-- refused: explain analyze of an insert
EXPLAIN ANALYZE INSERT INTO k VALUES (2)

-- # tables, views and other objects

-- refused: explain analyze of a temporary table that hides another
EXPLAIN ANALYZE CREATE TEMP TABLE k AS SELECT 99 AS v

-- refused: explain analyze with a comment
EXPLAIN /* x */ ANALYZE CREATE TEMP TABLE k AS SELECT 99 AS v

-- refused: explain analyze in options
EXPLAIN (ANALYZE, FORMAT json) CREATE TEMP TABLE k AS SELECT 99 AS v

-- # files and other databases

-- refused: explain analyze of a copy
EXPLAIN ANALYZE COPY (SELECT 1) TO '$FOLDER/new.csv'

-- # settings and upkeep

-- refused: explain analyze of a setting
EXPLAIN ANALYZE SET threads = 1

-- # tables, views and other objects

-- refused: explain analyze of a macro
EXPLAIN ANALYZE CREATE TEMP MACRO abs(x) AS 99

-- # files and other databases

-- refused: read a CSV file
SELECT * FROM read_csv('$FOLDER/secret.csv')

-- refused: read a file as text
SELECT * FROM read_text('$FOLDER/secret.csv')

-- refused: read a file as bytes
SELECT * FROM read_blob('$FOLDER/secret.csv')

-- refused: read JSON
SELECT * FROM read_json('$FOLDER/secret.csv')

-- refused: read Parquet
SELECT * FROM read_parquet('$FOLDER/secret.csv')

-- refused: read Parquet metadata
SELECT * FROM parquet_metadata('$FOLDER/secret.csv')

-- refused: read another DuckDB database
SELECT * FROM read_duckdb('$FOLDER/other.db')

-- refused: look for files
SELECT * FROM glob('$FOLDER/*')

-- refused: sniff a file
SELECT * FROM sniff_csv('$FOLDER/secret.csv')

-- refused: a file by its name
FROM '$FOLDER/secret.csv'

-- # the network

-- refused: a file of the web
SELECT * FROM 'https://localhost:1/x.csv'

-- # code: loaded, prepared, in a text

-- refused: a file in a text that is run
SELECT * FROM query('SELECT * FROM read_text(''$FOLDER/secret.csv'')')

-- refused: a file in a plan that is run
SELECT * FROM json_execute_serialized_sql(json_serialize_sql(
'SELECT * FROM read_text(''$FOLDER/secret.csv'')'))

-- error: a variable of Python
SELECT * FROM python_variable

-- error: a text that writes
SELECT * FROM query('DELETE FROM k')

-- error: a function at an address
SELECT * FROM arrow_scan(1, 1, 1)

-- error: a function of pandas at an address
SELECT * FROM pandas_scan(1)

-- # files and other databases

-- refused: logging into a file
SELECT * FROM enable_logging(storage = 'file', storage_path = '$FOLDER/log')

-- refused: profiling into a file, as a table
SELECT * FROM enable_profiling(format = 'json', save_location = '$FOLDER/new.json')

-- # settings and upkeep

-- refused: another grammar
SELECT * FROM add_grammar_extension('x')

-- rows: a checkpoint that has nothing to do
SELECT * FROM checkpoint()

-- error: a forced checkpoint
SELECT * FROM force_checkpoint()

-- # writes

-- refused|error: the next value of a sequence
SELECT nextval('numbers')

-- # tables, views and other objects

-- refused: a pivot that makes a type
PIVOT k ON v USING count(*)

-- # endless, huge, nested

-- isolated too_large: a repeated text
SELECT repeat('x', 3000000000)

-- isolated too_large|timeout|died: many repeated texts
SELECT repeat('x', 100000000) FROM range(1000)

-- isolated too_large|timeout|died: a long list
SELECT list_sort(range(1000000000))

-- timeout: a sum over a long range
SELECT sum(range) FROM range(1000000000000)

-- too_large|timeout: a huge list of a range
SELECT length(list(range)) FROM range(1000000000)

-- timeout|too_large: a sort that spills
SELECT * FROM range(1000000000) ORDER BY hash(range) LIMIT 10 OFFSET 900000000

-- # sleep

-- timeout: sleep
SELECT sleep_ms(60000)
