-- # writes

-- refused: replace
REPLACE INTO k VALUES (2)

-- refused: upsert
INSERT INTO k VALUES (2) ON CONFLICT DO NOTHING

-- refused: write to the schema table
UPDATE sqlite_master SET sql = ''

-- refused: write to the schema table by its other name
UPDATE sqlite_schema SET rootpage = 1

-- refused: delete from the schema table
DELETE FROM sqlite_master

-- refused: a table that looks like one of an R*Tree
INSERT INTO tree_node VALUES (2)

-- refused: delete from a table that looks like one of an R*Tree
DELETE FROM tree_node

-- refused: update a table that looks like one of an R*Tree
UPDATE tree_node SET v = 2

-- # files and other databases

-- refused: attach by a URI that may create
ATTACH 'file:$FOLDER/new.db?mode=rwc' AS n

-- refused: attach itself for writing
ATTACH 'file:$FOLDER/k.db?mode=rw' AS n

-- refused: attach a temporary file
ATTACH '' AS n

-- refused: vacuum into
VACUUM INTO '$FOLDER/new.db'

-- refused: vacuum into a URI
VACUUM main INTO 'file:$FOLDER/new.db?mode=rwc'

-- # settings and upkeep

-- refused: reindex
REINDEX

-- # tables, views and other objects

-- refused: create trigger
CREATE TRIGGER g AFTER INSERT ON k BEGIN DELETE FROM k; END

-- refused: create temporary trigger
CREATE TEMP TRIGGER g AFTER INSERT ON k BEGIN DELETE FROM k; END

-- refused: create virtual table
CREATE VIRTUAL TABLE f USING fts5(x)

-- refused: create temporary virtual table
CREATE VIRTUAL TABLE temp.f USING fts5(x)

-- # settings and upkeep

-- refused: journal mode
PRAGMA journal_mode = WAL

-- refused: journal mode, only asked
PRAGMA journal_mode

-- refused: writable schema
PRAGMA writable_schema = 1

-- refused: query only
PRAGMA query_only = 0

-- refused: query only by call
PRAGMA query_only(0)

-- refused: user version
PRAGMA user_version = 7

-- refused: application id by call
PRAGMA application_id(7)

-- refused: schema version
PRAGMA schema_version = 7

-- refused: encoding
PRAGMA encoding = 'UTF-16'

-- refused: checkpoint
PRAGMA wal_checkpoint(TRUNCATE)

-- refused: incremental vacuum
PRAGMA incremental_vacuum

-- refused: optimize
PRAGMA optimize

-- refused: a folder for temporary files
PRAGMA temp_store_directory = '$FOLDER'

-- refused: a folder for all files
PRAGMA data_store_directory = '$FOLDER'

-- refused: heap limit of the whole process
PRAGMA hard_heap_limit = 1

-- refused: cache spilling
PRAGMA cache_size = -10000000

-- refused: trusted schema
PRAGMA trusted_schema = 1

-- refused: functions that like is built on
PRAGMA case_sensitive_like = 1

-- refused: where the databases lie
PRAGMA database_list

-- refused: where the databases lie, as a table
SELECT * FROM pragma_database_list

-- refused|error: a setting by its table
SELECT * FROM pragma_user_version(7)

-- # code: loaded, prepared, in a text

-- refused|error: a tokenizer at an address
SELECT fts3_tokenizer('simple', x'4141414141414141')

-- refused: the address of a tokenizer
SELECT hex(fts3_tokenizer('simple'))

-- refused: the address of a structure
SELECT fts5(NULL)

-- # files and other databases

-- refused: a line in the log
SELECT sqlite_log(1, 'x')

-- # code: loaded, prepared, in a text

-- refused|error: load an extension with an entry
SELECT load_extension('$FOLDER/new.so', 'sqlite3_evil_init')

-- # files and other databases

-- refused|error: files of a folder
SELECT * FROM fsdir('$FOLDER')

-- refused|error: pages of the file
UPDATE sqlite_dbpage SET data = zeroblob(4096) WHERE pgno = 1

-- refused|error: a table out of a file
SELECT * FROM csv('$FOLDER/secret.csv')

-- # writes

-- refused: a function that writes, in a view
SELECT * FROM loads

-- refused: changes of a full-text table
INSERT INTO words(words) VALUES ('optimize')

-- refused: an insert into an R*Tree
INSERT INTO boxes VALUES (9, 0, 1)

-- refused: optimize a full-text table by a function
SELECT optimize(old_words) FROM old_words

-- # endless, huge, nested

-- too_large: zeros
SELECT zeroblob(1000000000)

-- too_large: random bytes
SELECT randomblob(100000000)

-- isolated rows|timeout: a printed width
SELECT length(printf('%.*c', 1000000000, 'x'))

-- too_large: hexadecimal of zeros
SELECT hex(zeroblob(10000000))

-- too_large|timeout: a joined text
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
SELECT length(group_concat(hex(zeroblob(1000)))) FROM n

-- timeout: the largest of large random cells
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
SELECT length(max(randomblob(16000000))) FROM n

-- timeout: a sort of large cells
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
SELECT length(x) FROM (SELECT randomblob(100000) AS x FROM n ORDER BY x)

-- rows|timeout: large cells in a batch of rows
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
SELECT zeroblob(10000000) FROM n

-- isolated timeout: a search that looks at no clock
SELECT instr(hex(zeroblob(2000000)), hex(zeroblob(1000000)) || '1')
