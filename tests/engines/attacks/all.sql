-- # writes

-- refused: insert
INSERT INTO k VALUES (2)

-- refused: insert from a query
INSERT INTO k SELECT v FROM k

-- refused: insert that returns rows
INSERT INTO k VALUES (2) RETURNING v

-- refused: update
UPDATE k SET v = 2

-- refused: update that returns rows
UPDATE k SET v = 2 RETURNING v

-- refused: delete
DELETE FROM k

-- refused: delete that returns rows
DELETE FROM k RETURNING v

-- refused: a comment first
/* SELECT */ DELETE FROM k -- SELECT

-- refused|error: insert after a common table expression
WITH q AS (SELECT 2 AS v) INSERT INTO k SELECT v FROM q

-- refused|error: delete after a common table expression
WITH q AS (SELECT 2 AS v) DELETE FROM k

-- refused|error: insert inside a common table expression
WITH q AS (INSERT INTO k VALUES (2) RETURNING v) SELECT v FROM q

-- # tables, views and other objects

-- refused: create table
CREATE TABLE new_table(x INTEGER)

-- refused: create table as
CREATE TABLE new_table AS SELECT v FROM k

-- refused: create temporary table
CREATE TEMP TABLE k AS SELECT 99 AS v

-- refused: create view
CREATE VIEW new_view AS SELECT v FROM k

-- refused: create temporary view
CREATE TEMP VIEW k AS SELECT 99 AS v

-- refused: create index
CREATE INDEX new_index ON k(v)

-- refused: drop table
DROP TABLE k

-- refused: drop table if there is one
DROP TABLE IF EXISTS no_such_table

-- refused: rename table
ALTER TABLE k RENAME TO l

-- refused: add column
ALTER TABLE k ADD COLUMN w INTEGER

-- refused|error: drop column
ALTER TABLE k DROP COLUMN v

-- # several statements, transactions

-- refused: two statements
SELECT 1; DROP TABLE k

-- refused: two statements, a comment between
SELECT 1; -- a comment
DELETE FROM k;

-- refused: a write before a read
DELETE FROM k; SELECT 1

-- refused: two reads
SELECT 1; SELECT 2

-- refused: begin
BEGIN

-- refused: begin a transaction
BEGIN TRANSACTION

-- refused|error: begin immediately
BEGIN IMMEDIATE

-- refused|error: savepoint
SAVEPOINT s

-- refused|error: release
RELEASE s

-- refused|error: commit
COMMIT

-- refused|error: rollback
ROLLBACK

-- # files and other databases

-- refused: attach another database
ATTACH '$FOLDER/other.db' AS o

-- refused: attach a new database
ATTACH '$FOLDER/new.db' AS n

-- refused: attach memory
ATTACH ':memory:' AS m

-- refused|error: detach
DETACH main

-- # settings and upkeep

-- refused: vacuum
VACUUM

-- refused: analyze
ANALYZE

-- # writes

-- refused|error: explain of an insert
EXPLAIN INSERT INTO k VALUES (2)

-- refused|error: explain of a delete
EXPLAIN DELETE FROM k

-- refused|error: explain of a create
EXPLAIN CREATE TABLE new_table(x INTEGER)

-- # settings and upkeep

-- refused: a pragma that sets
PRAGMA temp_directory = '$FOLDER'

-- refused: a pragma that is not known
PRAGMA no_such_pragma

-- # files and other databases

-- refused|error: read a file
SELECT readfile('$FOLDER/secret.csv')

-- refused|error: write a file
SELECT writefile('$FOLDER/new.txt', 'x')

-- refused|error: edit a file
SELECT edit('x', 'touch $FOLDER/new.txt')

-- # code: loaded, prepared, in a text

-- refused|error: load an extension
SELECT load_extension('$FOLDER/new.so')

-- # files and other databases

-- refused|error: read another database by its name
SELECT * FROM "$FOLDER/other.db"

-- refused|error: read a file by its name
SELECT * FROM '$FOLDER/secret.csv'

-- # tables, views and other objects

-- refused|error: into a new table
SELECT v INTO new_table FROM k

-- # locks

-- refused|error: a lock
SELECT v FROM k FOR UPDATE

-- # code: loaded, prepared, in a text

-- refused|error: a dot command
.shell touch new.txt

-- # endless, huge, nested

-- timeout: rows without end
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n

-- timeout: a cross join without end
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
SELECT count(*) FROM n AS a, n AS b, n AS c, n AS d WHERE a.i + b.i = c.i - d.i

-- isolated timeout|too_large: a text that doubles
WITH RECURSIVE n(t) AS (SELECT CAST('0123456789' AS VARCHAR) UNION ALL SELECT t || t FROM n)
SELECT max(length(t)) FROM n

-- refused|error|too_large|timeout|rows: parentheses, five thousand deep
SELECT $DEEP
