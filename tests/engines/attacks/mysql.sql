-- # writes

-- refused: replace
REPLACE INTO k VALUES (2)

-- refused: truncate
TRUNCATE TABLE k

-- # code: loaded, prepared, in a text

-- refused: call
CALL writes()

-- refused: do
DO SLEEP(10)

-- # settings and upkeep

-- refused: set a setting
SET SESSION sql_mode = ''

-- refused: set a global setting
SET GLOBAL max_connections = 1

-- refused: set a user variable
SET @x = 1

-- refused: show
SHOW VARIABLES

-- # files and other databases

-- refused: use
USE mysql

-- refused: load data
LOAD DATA INFILE '/etc/passwd' INTO TABLE k

-- refused: load local data
LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE k

-- # locks

-- refused: handler
HANDLER k OPEN

-- refused: lock tables
LOCK TABLES k WRITE

-- # the server and other sessions

-- refused: flush
FLUSH TABLES WITH READ LOCK

-- refused: kill
KILL 1

-- refused: shutdown
SHUTDOWN

-- # code: loaded, prepared, in a text

-- refused: prepare
PREPARE p FROM 'DELETE FROM k'

-- refused: execute
EXECUTE IMMEDIATE 'DELETE FROM k'

-- refused: install a plugin
INSTALL SONAME 'ha_connect'

-- # tables, views and other objects

-- refused: grant
GRANT ALL ON *.* TO new_user

-- refused: create a user
CREATE USER new_user

-- refused: create a database
CREATE DATABASE new_database

-- refused: rename
RENAME TABLE k TO l

-- # settings and upkeep

-- refused: optimize
OPTIMIZE TABLE k

-- # several statements, transactions

-- refused: xa
XA START 'x'

-- # writes

-- refused: explain of an update
EXPLAIN UPDATE k SET v = 2

-- refused: analyze of a delete
ANALYZE DELETE FROM k

-- # the server and other sessions

-- refused: explain for another connection
EXPLAIN FOR CONNECTION 1

-- # files and other databases

-- refused: into a file
SELECT v FROM k INTO OUTFILE '$FOLDER/new.txt'

-- refused: into a dump
SELECT v INTO DUMPFILE '$FOLDER/new.txt' FROM k

-- # settings and upkeep

-- refused: into a variable
SELECT v INTO @x FROM k

-- # files and other databases

-- refused: into a file of a union
(SELECT 1) UNION (SELECT 2) INTO OUTFILE '$FOLDER/new.txt'

-- refused: into a file behind a comment that runs
SELECT v FROM k /*! INTO OUTFILE '$FOLDER/new.txt' */

-- refused: into a file behind a comment with a version
SELECT v FROM k /*!50000 INTO OUTFILE '$FOLDER/new.txt' */

-- refused: into a file behind MariaDB's comment
SELECT v FROM k /*M!100000 INTO OUTFILE '$FOLDER/new.txt' */

-- refused: a function behind two signs
SELECT 1--load_file('/etc/passwd')

-- refused: a function behind two signs and a tab
SELECT 1 --	
, load_file('/etc/passwd')

-- refused: a function behind a nested comment
SELECT 1 /* /* */ , load_file('/etc/passwd') -- */

-- refused: a function behind a backslash in a string
SELECT 'a\'', load_file('/etc/passwd'), '\''

-- refused: read a file
SELECT LOAD_FILE('/etc/passwd')

-- refused: read a file, quoted
SELECT `load_file`('/etc/passwd')

-- refused: read a file, a blank and a comment between
SELECT load_file /* x */ ('/etc/passwd')

-- refused: read a file as if it were a table's alias
SELECT 1 AS a, load_file('/etc/passwd') AS b

-- # sleep

-- refused: sleep
SELECT SLEEP(10)

-- refused: sleep in a condition
SELECT v FROM k WHERE SLEEP(10) = 0

-- refused: benchmark
SELECT BENCHMARK(1000000000, SHA2('x', 512))

-- # locks

-- refused: a lock by name
SELECT GET_LOCK('x', 10)

-- refused: give locks back
SELECT RELEASE_ALL_LOCKS()

-- # sleep

-- refused: wait for replication
SELECT MASTER_GTID_WAIT('0-1-1', 10)

-- # settings and upkeep

-- refused: set what is remembered
SELECT LAST_INSERT_ID(99)

-- refused: assign a variable
SELECT @x := 1

-- # writes

-- refused|error: a sequence's next value
SELECT NEXTVAL(numbers)

-- refused|error: a sequence's next value, the other way
SELECT NEXT VALUE FOR numbers

-- # code: loaded, prepared, in a text

-- refused: a stored function
SELECT writes_k()

-- refused|error: a stored function that claims to read
SELECT lies()

-- refused: call the system's crypt
SELECT ENCRYPT('x')

-- refused|error: a library's function
SELECT sys_exec('touch $FOLDER/new.txt')

-- # locks

-- refused: a lock on rows
SELECT v FROM k FOR UPDATE

-- refused: a shared lock on rows
SELECT v FROM k LOCK IN SHARE MODE

-- refused: a lock that skips
SELECT v FROM k FOR UPDATE SKIP LOCKED

-- # code: loaded, prepared, in a text

-- refused: analyse
SELECT v FROM k PROCEDURE ANALYSE()

-- # endless, huge, nested

-- timeout: a cross join of the system's tables
SELECT count(*) FROM information_schema.columns a, information_schema.columns b, information_schema.columns c WHERE a.ordinal_position + b.ordinal_position = c.ordinal_position * 1000003

-- timeout|rows: a huge text that is too large to be one
SELECT LENGTH(REPEAT('x', 2000000000))

-- timeout: a pattern that backtracks
SELECT count(*) FROM information_schema.columns a, information_schema.columns b WHERE CONCAT(REPEAT('a', 30), a.ordinal_position, b.ordinal_position) REGEXP '^(a|aa)+$'

-- timeout|too_large: texts without end
SELECT GROUP_CONCAT(REPEAT(a.column_name, 100)) FROM information_schema.columns a, information_schema.columns b, information_schema.columns c
