-- # code: loaded, prepared, in a text

-- refused: do
DO $$ BEGIN INSERT INTO k VALUES (2); END $$

-- refused: call
CALL volatile_one()

-- # files and other databases

-- refused: copy to a file
COPY k TO '$FOLDER/new.csv'

-- refused: copy to a program
COPY (SELECT 1) TO PROGRAM 'touch $FOLDER/new.txt'

-- refused: copy from a program
COPY k FROM PROGRAM 'echo 2'

-- refused: copy from a file
COPY k FROM '/etc/hostname'

-- # writes

-- refused: truncate
TRUNCATE k

-- refused: merge
MERGE INTO k USING (SELECT 2 AS v) AS s ON k.v = s.v WHEN NOT MATCHED THEN INSERT VALUES (2)

-- # tables, views and other objects

-- refused|error: select into
SELECT v INTO new_table FROM k

-- refused: select into a temporary table after a comment
/* nothing */ CREATE TEMP TABLE x AS SELECT 1

-- # settings and upkeep

-- refused: set a setting
SET work_mem = '1GB'

-- refused: set the role
SET ROLE postgres

-- refused: set the transaction
SET TRANSACTION READ WRITE

-- refused: reset
RESET ALL

-- refused: show
SHOW data_directory

-- # code: loaded, prepared, in a text

-- refused: prepare
PREPARE p AS INSERT INTO k VALUES (2)

-- refused: execute
EXECUTE p

-- # the server and other sessions

-- refused: listen
LISTEN here

-- refused: notify
NOTIFY here

-- # locks

-- refused: lock table
LOCK TABLE k

-- # several statements, transactions

-- refused: declare
DECLARE c CURSOR WITH HOLD FOR SELECT 1

-- # code: loaded, prepared, in a text

-- refused: load
LOAD 'auto_explain'

-- refused: extension
CREATE EXTENSION dblink

-- # tables, views and other objects

-- refused: role
CREATE ROLE new_role SUPERUSER

-- refused: grant
GRANT ALL ON k TO public

-- # settings and upkeep

-- refused: alter system
ALTER SYSTEM SET work_mem = '1GB'

-- refused: alter the role
ALTER ROLE CURRENT_USER SET work_mem = '1GB'

-- # tables, views and other objects

-- refused: comment
COMMENT ON TABLE k IS 'x'

-- # settings and upkeep

-- refused: discard
DISCARD ALL

-- refused: checkpoint
CHECKPOINT

-- refused: cluster
CLUSTER

-- refused: reindex
REINDEX TABLE k

-- refused: refresh
REFRESH MATERIALIZED VIEW k

-- # writes

-- refused: explain analyze of a write
EXPLAIN ANALYZE INSERT INTO k VALUES (2)

-- refused: explain with options of a write
EXPLAIN (ANALYZE, VERBOSE) DELETE FROM k

-- # tables, views and other objects

-- refused: explain of a table that is made
EXPLAIN ANALYZE CREATE TABLE new_table AS SELECT 1

-- # code: loaded, prepared, in a text

-- refused: explain of execute
EXPLAIN ANALYZE EXECUTE p

-- # writes

-- refused|error: a write in a common table expression
WITH w AS (DELETE FROM k RETURNING v) SELECT count(*) FROM w

-- # locks

-- refused|error: a lock on rows
SELECT v FROM k FOR UPDATE

-- refused|error: a shared lock on rows
SELECT v FROM k FOR KEY SHARE

-- # files and other databases

-- refused: read a file
SELECT pg_read_file('/etc/passwd')

-- refused: read a file, qualified
SELECT pg_catalog.pg_read_file('/etc/passwd')

-- refused: read a file, quoted
SELECT "pg_catalog"."pg_read_file"('/etc/passwd')

-- refused: read a file, a comment between
SELECT pg_read_file/* a /* nested */ comment */('/etc/passwd')

-- refused: read a file, in capitals and with a line break
SELECT PG_READ_FILE
('/etc/passwd')

-- refused|error: read a file behind escapes
SELECT U&"pg_read\005ffile"('/etc/passwd')

-- refused|error: read a file behind lower case escapes
SELECT u&"!0070g_read_file" UESCAPE '!' ('/etc/passwd')

-- refused: read a file behind a string with escapes
SELECT E'\'', pg_read_file('/etc/passwd') --'

-- refused: read a file behind a string that a backslash ends
SELECT 'a\', pg_read_file('/etc/passwd') --'

-- refused: read a file behind dollars
SELECT $a$ ' $a$, pg_read_file('/etc/passwd'), $$ ' $$

-- refused: read a file behind nested comments
SELECT 1 /* /* */ , 2 */ , pg_read_file('/etc/passwd')

-- refused: read a binary file
SELECT pg_read_binary_file('/etc/passwd')

-- refused: list files
SELECT * FROM pg_ls_dir('/etc')

-- refused: stat a file
SELECT * FROM pg_stat_file('/etc/passwd')

-- error: a view that reads a file
SELECT x FROM looks

-- refused: import a large object
SELECT lo_import('/etc/passwd')

-- refused: export a large object
SELECT lo_export(4711, '$FOLDER/new.txt')

-- refused: make a large object
SELECT lo_create(0)

-- refused: make a large object from bytes
SELECT lo_from_bytea(0, 'x')

-- refused: drop a large object
SELECT lo_unlink(4711)

-- refused: write a large object
SELECT lo_put(4711, 0, 'x')

-- refused: open a large object
SELECT lo_open(4711, 131072)

-- # the network

-- refused|error: another database
SELECT * FROM dblink('dbname=test', 'SELECT 1') AS t(x int)

-- refused|error: another database, with effects
SELECT dblink_exec('dbname=test', 'CREATE TABLE new_table(x int)')

-- # settings and upkeep

-- refused: set a setting by a function
SELECT set_config('default_transaction_read_only', 'off', false)

-- refused: set the role by a function
SELECT set_config('role', 'none', true), pg_read_file('/etc/passwd')

-- # locks

-- refused: an advisory lock
SELECT pg_advisory_lock(1)

-- refused: an advisory lock that is tried
SELECT pg_try_advisory_lock(1)

-- refused: an advisory lock in a subquery of a condition
SELECT v FROM k WHERE v IN (SELECT 1 FROM pg_advisory_lock(1))

-- # sleep

-- refused: sleep
SELECT pg_sleep(10)

-- refused: sleep for
SELECT pg_sleep_for('10 s')

-- # the server and other sessions

-- refused: notify by a function
SELECT pg_notify('here', 'x')

-- refused: end other connections
SELECT pg_terminate_backend(pid) FROM pg_stat_activity

-- refused: cancel other queries
SELECT pg_cancel_backend(pid) FROM pg_stat_activity

-- refused: reload the server
SELECT pg_reload_conf()

-- refused: rotate the log
SELECT pg_rotate_logfile()

-- refused: switch the log of writes
SELECT pg_switch_wal()

-- refused: promote
SELECT pg_promote()

-- refused: a slot
SELECT pg_create_physical_replication_slot('new_slot')

-- # code: loaded, prepared, in a text

-- refused: a query in a text
SELECT query_to_xml('DELETE FROM k', true, true, '')

-- refused: a query in a text for statistics
SELECT * FROM ts_stat('SELECT pg_read_file(''/etc/passwd'')')

-- refused: a cursor to xml
SELECT cursor_to_xml('c', 1, true, true, '')

-- # writes

-- refused: a sequence's next value
SELECT nextval('numbers')

-- refused: set a sequence
SELECT setval('numbers', 99)

-- refused|error: a view that takes a sequence's next value
SELECT x FROM counts

-- # code: loaded, prepared, in a text

-- refused: a volatile function
SELECT volatile_one()

-- refused|error: a function that claims to be stable and writes
SELECT lies()

-- # settings and upkeep

-- refused: the seed of chance
SELECT setseed(0.5)

-- # the server and other sessions

-- refused: export a snapshot
SELECT pg_export_snapshot()

-- refused: reset statistics
SELECT pg_stat_reset()

-- # endless, huge, nested

-- timeout|too_large: a huge list
SELECT length(string_agg(repeat('x', 1000), ',')) FROM generate_series(1, 10000000)

-- timeout|too_large|error: a huge series
SELECT count(*) FROM generate_series(1, 100000000000)

-- timeout|too_large|error: an array without end
SELECT array_agg(a) FROM generate_series(1, 1000000000) AS a

-- too_large|timeout: a huge cell
SELECT repeat('x', 100000000)

-- error|too_large: a cell beyond the server's own bound
SELECT repeat('x', 2000000000)

-- timeout: a cross join of the system's tables
SELECT count(*) FROM pg_attribute a, pg_attribute b, pg_attribute c WHERE a.attnum + b.attnum = c.attnum
