"""Statements that must never reach an engine: more than three hundred ways out, all closed."""

from __future__ import annotations

STATEMENTS = """
EXPLAIN SELECT COUNT(*) FROM visits
EXPLAIN ANALYZE SELECT COUNT(*) FROM visits
EXPLAIN (FORMAT json) SELECT COUNT(*) FROM visits
DESCRIBE visits
DESCRIBE SELECT COUNT(*) FROM visits
DESC visits
SUMMARIZE visits
SUMMARIZE SELECT * FROM visits
SHOW TABLES
SHOW ALL TABLES
SHOW visits
SHOW search_path
PRAGMA table_info('visits')
PRAGMA storage_info('snapshot')
PRAGMA database_list
PRAGMA show_tables
PRAGMA enable_profiling
PRAGMA version
CALL pragma_version()
CALL duckdb_tables()
CALL dsdgen(sf = 1)
CHECKPOINT
FORCE CHECKPOINT
VACUUM
VACUUM ANALYZE visits
ANALYZE
BEGIN
BEGIN TRANSACTION
START TRANSACTION
COMMIT
ROLLBACK
ABORT
SAVEPOINT a
USE memory
SET threads = 64
SET enable_external_access = true
SET lock_configuration = false
SET VARIABLE secret = (SELECT MAX(age) FROM visits)
SET GLOBAL memory_limit = '1TB'
SET SESSION search_path = 'main'
SET discreet.epsilon = 100
RESET threads
RESET VARIABLE secret
COPY visits TO 'out.csv'
COPY visits FROM 'in.csv'
COPY (SELECT * FROM visits) TO 'out.parquet' (FORMAT parquet)
COPY (SELECT COUNT(*) FROM visits) TO STDOUT
COPY FROM DATABASE a TO b
EXPORT DATABASE 'out'
IMPORT DATABASE 'in'
ATTACH 'other.duckdb' AS other
ATTACH ':memory:' AS other
ATTACH 'host=localhost' AS pg (TYPE postgres)
DETACH snapshot
INSTALL httpfs
LOAD httpfs
FORCE INSTALL httpfs
UPDATE EXTENSIONS
CREATE TABLE copy AS SELECT * FROM visits
CREATE TEMP TABLE copy AS SELECT COUNT(*) FROM visits
CREATE TABLE t (a INTEGER)
CREATE VIEW v AS SELECT * FROM visits
CREATE OR REPLACE VIEW visits AS SELECT 1
CREATE MACRO f(a) AS a + 1
CREATE FUNCTION f(a) AS a + 1
CREATE SCHEMA s
CREATE SEQUENCE s
CREATE TYPE mood AS ENUM ('a')
CREATE INDEX i ON visits (age)
CREATE SECRET s (TYPE s3)
CREATE USER ann
DROP TABLE visits
DROP VIEW visits
DROP TABLE IF EXISTS snapshot
ALTER TABLE visits ADD COLUMN a INTEGER
ALTER TABLE visits RENAME TO other
TRUNCATE visits
TRUNCATE TABLE visits
INSERT INTO visits VALUES (1)
INSERT INTO visits SELECT * FROM visits
INSERT OR REPLACE INTO visits VALUES (1)
UPDATE visits SET age = 0
DELETE FROM visits
DELETE FROM visits WHERE TRUE RETURNING *
MERGE INTO visits USING wards ON TRUE WHEN MATCHED THEN DELETE
GRANT ALL ON visits TO ann
REVOKE ALL ON visits FROM ann
COMMENT ON TABLE visits IS 'x'
PREPARE q AS SELECT COUNT(*) FROM visits
PREPARE q AS SELECT COUNT(*) FROM visits WHERE age > $1
EXECUTE q
EXECUTE q(1)
DEALLOCATE q
DECLARE c CURSOR FOR SELECT * FROM visits
FETCH ALL FROM c
CLOSE c
LISTEN channel
NOTIFY channel
LOCK TABLE visits
DISCARD ALL
REINDEX TABLE visits
CLUSTER visits
KILL 1
DO 'x'
VALUES (1)
VALUES (1), (2)
TABLE visits
FROM visits
FROM visits SELECT age
FROM 'visits.parquet'
PIVOT visits ON ward USING COUNT(*)
UNPIVOT visits ON age INTO NAME n VALUE v
(PIVOT visits ON ward USING COUNT(*))
SELECT
SELECT 1
SELECT 1 + 1
SELECT now()
SELECT version()
SELECT current_user
SELECT current_setting('threads')
SELECT getvariable('secret')
SELECT setseed(0.5)
SELECT random()
SELECT sleep_ms(1000)
SELECT query('SELECT 1')
SELECT nextval('s')
SELECT pg_sleep(1)
SELECT * FROM visits
SELECT age FROM visits
SELECT age FROM visits LIMIT 1
SELECT age FROM visits ORDER BY age LIMIT 1
SELECT age FROM visits OFFSET 3
SELECT visits FROM visits
SELECT visits.* FROM visits
SELECT COLUMNS(*) FROM visits
SELECT COLUMNS('a.*') FROM visits
SELECT * EXCLUDE (age) FROM visits
SELECT * REPLACE (1 AS age) FROM visits
SELECT * RENAME (age AS b) FROM visits
SELECT rowid FROM visits
SELECT COUNT(rowid) FROM visits
SELECT COUNT(*), rowid FROM visits GROUP BY rowid
SELECT patient_id, COUNT(*) FROM visits GROUP BY patient_id
SELECT COUNT(*) FROM visits WHERE patient_id = 7
SELECT SUM(patient_id) FROM visits
SELECT MAX(patient_id) FROM visits
SELECT COUNT(DISTINCT age) FROM visits
SELECT COUNT(DISTINCT (patient_id, age)) FROM visits
SELECT COUNT(DISTINCT patient_id, age) FROM visits
SELECT COUNT(DISTINCT patient_id + 1) FROM visits
SELECT SUM(DISTINCT age) FROM visits
SELECT AVG(DISTINCT age) FROM visits
SELECT "_discreet_unit" FROM visits
SELECT COUNT("_discreet_unit") FROM visits
SELECT COUNT(*) FROM visits WHERE "_discreet_rank" = 1
SELECT COUNT(*) FROM visits WHERE "_discreet_rows" > 20
SELECT "_discreet_unit", COUNT(*) FROM visits GROUP BY 1
SELECT SUM("_discreet_rank") FROM visits
SELECT COUNT(DISTINCT "_discreet_unit") FROM visits
SELECT COUNT(*) FROM snapshot
SELECT COUNT(*) FROM "snapshot"
SELECT COUNT(*) FROM main.snapshot
SELECT COUNT(*) FROM identity
SELECT id FROM identity
SELECT COUNT(*) FROM memory.main.visits
SELECT COUNT(*) FROM other.visits
SELECT COUNT(*) FROM a.b.visits
SELECT COUNT(*) FROM a.b.c.visits
SELECT COUNT(*) FROM information_schema.tables
SELECT COUNT(*) FROM information_schema.columns
SELECT table_name FROM information_schema.tables
SELECT COUNT(*) FROM pg_catalog.pg_class
SELECT COUNT(*) FROM pg_class
SELECT COUNT(*) FROM sqlite_master
SELECT COUNT(*) FROM duckdb_tables
SELECT COUNT(*) FROM duckdb_tables()
SELECT estimated_size FROM duckdb_tables()
SELECT COUNT(*) FROM duckdb_columns()
SELECT COUNT(*) FROM duckdb_settings()
SELECT COUNT(*) FROM duckdb_secrets()
SELECT COUNT(*) FROM duckdb_functions()
SELECT COUNT(*) FROM duckdb_logs
SELECT COUNT(*) FROM pragma_storage_info('snapshot')
SELECT COUNT(*) FROM pragma_table_info('snapshot')
SELECT COUNT(*) FROM pragma_database_size()
SELECT COUNT(*) FROM pragma_metadata_info()
SELECT COUNT(*) FROM read_csv('/etc/passwd')
SELECT COUNT(*) FROM read_csv_auto('/etc/passwd')
SELECT COUNT(*) FROM read_parquet('visits.parquet')
SELECT COUNT(*) FROM parquet_scan('visits.parquet')
SELECT COUNT(*) FROM parquet_metadata('visits.parquet')
SELECT COUNT(*) FROM parquet_schema('visits.parquet')
SELECT COUNT(*) FROM parquet_kv_metadata('visits.parquet')
SELECT COUNT(*) FROM read_json('a.json')
SELECT COUNT(*) FROM read_json_auto('a.json')
SELECT COUNT(*) FROM read_ndjson('a.json')
SELECT COUNT(*) FROM read_text('/etc/passwd')
SELECT COUNT(*) FROM read_blob('/etc/passwd')
SELECT content FROM read_text('/etc/passwd')
SELECT COUNT(*) FROM glob('/*')
SELECT COUNT(*) FROM sniff_csv('/etc/passwd')
SELECT COUNT(*) FROM read_csv('https://example.org/a.csv')
SELECT COUNT(*) FROM 'https://example.org/a.csv'
SELECT COUNT(*) FROM 's3://bucket/a.parquet'
SELECT COUNT(*) FROM '/etc/passwd'
SELECT COUNT(*) FROM 'visits.parquet'
SELECT COUNT(*) FROM "visits.parquet"
SELECT COUNT(*) FROM query('SELECT * FROM snapshot')
SELECT COUNT(*) FROM query_table('snapshot')
SELECT COUNT(*) FROM json_execute_serialized_sql('{}')
SELECT COUNT(*) FROM postgres_scan('a', 'b', 'c')
SELECT COUNT(*) FROM sqlite_scan('a', 'b')
SELECT COUNT(*) FROM mysql_query('a', 'b')
SELECT COUNT(*) FROM iceberg_scan('a')
SELECT COUNT(*) FROM delta_scan('a')
SELECT COUNT(*) FROM st_read('a')
SELECT COUNT(*) FROM range(10)
SELECT COUNT(*) FROM generate_series(1, 10)
SELECT COUNT(*) FROM unnest([1, 2])
SELECT COUNT(*) FROM repeat_row(1, num_rows = 10)
SELECT COUNT(*) FROM test_all_types()
SELECT COUNT(*) FROM (VALUES (1), (2)) AS v(a)
SELECT COUNT(*) FROM (DESCRIBE visits)
SELECT COUNT(*) FROM (SHOW TABLES)
SELECT COUNT(*) FROM (SUMMARIZE visits)
SELECT COUNT(*) FROM (PIVOT visits ON ward USING COUNT(*))
SELECT COUNT(*) FROM visits, wards
SELECT COUNT(*) FROM visits, visits AS other
SELECT COUNT(*) FROM visits CROSS JOIN wards
SELECT COUNT(*) FROM visits JOIN wards ON TRUE
SELECT COUNT(*) FROM visits JOIN wards USING (ward)
SELECT COUNT(*) FROM visits NATURAL JOIN wards
SELECT COUNT(*) FROM visits LEFT JOIN wards ON visits.ward = wards.ward
SELECT COUNT(*) FROM visits FULL OUTER JOIN wards ON TRUE
SELECT COUNT(*) FROM visits SEMI JOIN wards USING (ward)
SELECT COUNT(*) FROM visits ANTI JOIN wards USING (ward)
SELECT COUNT(*) FROM visits ASOF JOIN wards ON visits.age >= wards.beds
SELECT COUNT(*) FROM visits POSITIONAL JOIN wards
SELECT COUNT(*) FROM visits a JOIN visits b ON a.age = b.age
SELECT COUNT(*) FROM visits, LATERAL (SELECT 1)
SELECT COUNT(*) FROM visits LEFT JOIN LATERAL (SELECT 1) ON TRUE
SELECT COUNT(*) FROM visits CROSS JOIN UNNEST([1, 2, 3])
SELECT COUNT(*) FROM visits, UNNEST([1, 2, 3])
SELECT COUNT(*) FROM visits TABLESAMPLE 10%
SELECT COUNT(*) FROM visits USING SAMPLE 10 ROWS
SELECT COUNT(*) FROM visits USING SAMPLE reservoir(5 ROWS) REPEATABLE (1)
SELECT COUNT(*) FROM visits TABLESAMPLE BERNOULLI (10)
SELECT COUNT(*) FROM visits AT (VERSION => 1)
SELECT COUNT(*) FROM visits FOR UPDATE
SELECT COUNT(*) FROM visits FOR SHARE
SELECT COUNT(*) FROM visits WITH ORDINALITY
SELECT COUNT(*) FROM visits AS v(a, b)
SELECT COUNT(*) FROM ONLY visits
SELECT COUNT(*) FROM visits WINDOW w AS (ORDER BY age)
SELECT COUNT(*) INTO copy FROM visits
SELECT COUNT(*) FROM visits UNION SELECT COUNT(*) FROM visits
SELECT COUNT(*) FROM visits UNION ALL SELECT COUNT(*) FROM visits
SELECT COUNT(*) FROM visits UNION ALL BY NAME SELECT COUNT(*) FROM visits
SELECT COUNT(*) FROM visits INTERSECT SELECT 1
SELECT COUNT(*) FROM visits EXCEPT SELECT 1
SELECT COUNT(*) FROM (SELECT * FROM visits UNION ALL SELECT * FROM visits)
WITH a AS (SELECT * FROM visits UNION ALL SELECT * FROM visits) SELECT COUNT(*) FROM a
WITH RECURSIVE a AS (SELECT age FROM visits UNION ALL SELECT age + 1 FROM a) SELECT COUNT(*) FROM a
WITH RECURSIVE a AS (SELECT age FROM visits) SELECT COUNT(*) FROM a
WITH a AS MATERIALIZED (SELECT * FROM visits) SELECT COUNT(*) FROM a
WITH a(b) AS (SELECT age FROM visits) SELECT COUNT(b) FROM a
WITH a AS (DELETE FROM visits RETURNING *) SELECT COUNT(*) FROM a
WITH a AS (INSERT INTO visits VALUES (1) RETURNING *) SELECT COUNT(*) FROM a
WITH a AS (SELECT COUNT(*) AS n FROM visits) SELECT n FROM a, visits
WITH a AS (SELECT COUNT(*) AS n FROM visits) SELECT SUM(age) FROM visits WHERE age > (TABLE a)
SELECT COUNT(*) FROM visits WHERE age > (SELECT AVG(age) FROM visits)
SELECT COUNT(*) FROM visits WHERE age IN (SELECT age FROM visits)
SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1 FROM wards)
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM wards w WHERE w.ward = v.ward)
SELECT COUNT(*) FROM visits WHERE age = ANY (SELECT age FROM visits)
SELECT COUNT(*) FROM visits WHERE age > ALL (SELECT 1)
SELECT COUNT(*) FROM visits WHERE (age, stay) IN ((1, 2))
SELECT (SELECT MAX(age) FROM visits) FROM visits
SELECT COUNT(*), (SELECT 1) FROM visits
SELECT SUM((SELECT MAX(age) FROM visits)) FROM visits
SELECT COUNT(*) FROM visits HAVING (SELECT TRUE)
SELECT COUNT(*) FROM visits ORDER BY (SELECT 1)
SELECT COUNT(*) FROM visits LIMIT (SELECT 1)
SELECT COUNT(*) FROM visits LIMIT 10 PERCENT
SELECT COUNT(*) FROM visits LIMIT ALL
SELECT COUNT(*) FROM visits FETCH FIRST 1 ROW ONLY
SELECT COUNT(*) FROM visits FETCH FIRST 1 ROW WITH TIES
SELECT TOP 5 COUNT(*) FROM visits
SELECT DISTINCT ON (ward) ward, COUNT(*) FROM visits GROUP BY ward
SELECT DISTINCT ward, COUNT(*) FROM visits GROUP BY ward
SELECT ward, COUNT(*) FROM visits GROUP BY ROLLUP (ward)
SELECT ward, COUNT(*) FROM visits GROUP BY CUBE (ward)
SELECT ward, COUNT(*) FROM visits GROUP BY GROUPING SETS ((ward), ())
SELECT ward, GROUPING(ward), COUNT(*) FROM visits GROUP BY ward
SELECT ward, COUNT(*) FROM visits GROUP BY ward WITH TOTALS
SELECT COUNT(*) FROM visits QUALIFY ROW_NUMBER() OVER () = 1
SELECT ROW_NUMBER() OVER () FROM visits
SELECT ROW_NUMBER() OVER (PARTITION BY ward ORDER BY age) FROM visits
SELECT RANK() OVER (ORDER BY age) FROM visits
SELECT SUM(age) OVER () FROM visits
SELECT COUNT(*) OVER () FROM visits
SELECT COUNT(*) OVER (PARTITION BY ward) FROM visits
SELECT LAG(age) OVER (ORDER BY day) FROM visits
SELECT FIRST_VALUE(age) OVER (ORDER BY day) FROM visits
SELECT SUM(age) FILTER (WHERE urgent) OVER () FROM visits
SELECT COUNT(*) FROM visits WHERE ROW_NUMBER() OVER () = 1
SELECT MIN(age) FROM visits
SELECT MAX(age) FROM visits
SELECT MEDIAN(age) FROM visits
SELECT MODE(age) FROM visits
SELECT QUANTILE(age, 0.5) FROM visits
SELECT QUANTILE_CONT(age, 0.5) FROM visits
SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age) FROM visits
SELECT STDDEV(age) FROM visits
SELECT VARIANCE(age) FROM visits
SELECT CORR(age, cost) FROM visits
SELECT FIRST(age) FROM visits
SELECT LAST(age) FROM visits
SELECT ANY_VALUE(age) FROM visits
SELECT ARG_MAX(name, age) FROM visits
SELECT ARG_MIN(name, age) FROM visits
SELECT LIST(age) FROM visits
SELECT ARRAY_AGG(age) FROM visits
SELECT STRING_AGG(name, ',') FROM visits
SELECT GROUP_CONCAT(name) FROM visits
SELECT HISTOGRAM(age) FROM visits
SELECT BIT_XOR(age) FROM visits
SELECT BOOL_OR(urgent) FROM visits
SELECT BOOL_AND(urgent) FROM visits
SELECT PRODUCT(age) FROM visits
SELECT FSUM(cost) FROM visits
SELECT KAHAN_SUM(cost) FROM visits
SELECT APPROX_COUNT_DISTINCT(age) FROM visits
SELECT APPROX_QUANTILE(age, 0.5) FROM visits
SELECT RESERVOIR_QUANTILE(age, 0.5) FROM visits
SELECT ENTROPY(age) FROM visits
SELECT SKEWNESS(age) FROM visits
SELECT COUNT_IF(urgent) FROM visits
SELECT COUNTIF(urgent) FROM visits
SELECT SUM(age ORDER BY day) FROM visits
SELECT COUNT(age ORDER BY day) FROM visits
SELECT COUNT(age, stay) FROM visits
SELECT COUNT(* EXCLUDE (age)) FROM visits
SELECT COUNT(COLUMNS(*)) FROM visits
SELECT SUM(weight) FROM visits
SELECT AVG(stay) FROM visits
SELECT SUM(weight * age) FROM visits
SELECT SUM(age / stay) FROM visits
SELECT SUM(LENGTH(name)) FROM visits
SELECT SUM(1 / (age - 50)) FROM visits
SELECT SUM(age * 1e300 * 1e300) FROM visits
SELECT SUM(name) FROM visits
SELECT SUM(day) FROM visits
SELECT AVG(arrived) FROM visits
SELECT SUM(SUM(age)) FROM visits
SELECT COUNT(COUNT(*)) FROM visits
SELECT COUNT(*) FROM visits WHERE COUNT(*) > 1
SELECT COUNT(*) FROM visits GROUP BY COUNT(*)
SELECT ward FROM visits HAVING ward = 'north'
SELECT name, COUNT(*) FROM visits GROUP BY ward
SELECT COUNT(*) FROM visits ORDER BY age
SELECT COUNT(*) FROM visits HAVING age > 3
SELECT CAST(name AS INTEGER), COUNT(*) FROM visits GROUP BY 1
SELECT SUM(CAST(name AS INTEGER)) FROM visits
SELECT SUM(CAST(weight AS INTEGER)) FROM visits
SELECT COUNT(CAST(name AS DATE)) FROM visits
SELECT COUNT(TRY_CAST(name AS INTEGER)) FROM visits
SELECT COUNT(name::INTEGER) FROM visits
SELECT COUNT(name::JSON) FROM visits
SELECT COUNT(age::DECIMAL(5, 2)) FROM visits
SELECT COUNT(age::HUGEINT) FROM visits
SELECT COUNT(age::UTINYINT) FROM visits
SELECT COUNT(arrived::TIMESTAMPTZ) FROM visits
SELECT COUNT(arrived AT TIME ZONE 'UTC') FROM visits
SELECT COUNT(error(name)) FROM visits
SELECT COUNT(*) FROM visits WHERE error('x')
SELECT COUNT(*) FROM visits WHERE CASE WHEN name = 'Ann' THEN error('x') ELSE TRUE END
SELECT COUNT(*) FROM visits WHERE age // 0 = 1
SELECT COUNT(*) FROM visits WHERE age ^ 9999 > 0
SELECT COUNT(*) FROM visits WHERE age ** 2 > 0
SELECT COUNT(*) FROM visits WHERE POW(age, 2) > 0
SELECT COUNT(*) FROM visits WHERE LN(age) > 0
SELECT COUNT(*) FROM visits WHERE EXP(age) > 0
SELECT COUNT(*) FROM visits WHERE FACTORIAL(age) > 0
SELECT COUNT(*) FROM visits WHERE age << 70 > 0
SELECT COUNT(*) FROM visits WHERE age & 1 = 1
SELECT COUNT(*) FROM visits WHERE ~age = 1
SELECT COUNT(*) FROM visits WHERE age!
SELECT COUNT(*) FROM visits WHERE name ~ 'a.*'
SELECT COUNT(*) FROM visits WHERE name SIMILAR TO 'a.*'
SELECT COUNT(*) FROM visits WHERE name GLOB 'a*'
SELECT COUNT(*) FROM visits WHERE name ILIKE 'a%'
SELECT COUNT(*) FROM visits WHERE name LIKE 'a#%' ESCAPE '#'
SELECT COUNT(*) FROM visits WHERE name LIKE 'a\\%'
SELECT COUNT(*) FROM visits WHERE name LIKE ward
SELECT COUNT(*) FROM visits WHERE regexp_matches(name, '(a+)+$')
SELECT COUNT(*) FROM visits WHERE name COLLATE nocase = 'ann'
SELECT COUNT(*) FROM visits WHERE strptime(name, '%Y') IS NULL
SELECT COUNT(*) FROM visits WHERE date_part('century', day) = 1
SELECT COUNT(*) FROM visits WHERE day + INTERVAL 1 DAY > day
SELECT COUNT(*) FROM visits WHERE day + 1 > day
SELECT COUNT(*) FROM visits WHERE day - day = 0
SELECT COUNT(*) FROM visits WHERE day > now()
SELECT COUNT(*) FROM visits WHERE day > current_date
SELECT COUNT(*) FROM visits WHERE age > random()
SELECT COUNT(*) FROM visits WHERE uuid() IS NULL
SELECT COUNT(*) FROM visits WHERE hash(age) = 1
SELECT COUNT(*) FROM visits WHERE md5(name) = 'x'
SELECT COUNT(*) FROM visits WHERE age = $1
SELECT COUNT(*) FROM visits WHERE age = $age
SELECT COUNT(*) FROM visits WHERE age = ?
SELECT COUNT(*) FROM visits WHERE age = ?1
SELECT COUNT(*) FROM visits WHERE age = :age
SELECT COUNT(*) FROM visits WHERE age = {{ age }}
SELECT COUNT(*) FROM visits WHERE age IN ()
SELECT COUNT(*) FROM visits WHERE age IN (stay, 3)
SELECT COUNT(*) FROM visits WHERE list_contains([1, 2], age)
SELECT COUNT(*) FROM visits WHERE [age] = [1]
SELECT COUNT(*) FROM visits WHERE {'a': age} = {'a': 1}
SELECT COUNT(*) FROM visits WHERE MAP {age: 1} IS NULL
SELECT COUNT(*) FROM visits WHERE ROW(age) = ROW(1)
SELECT COUNT(*) FROM visits WHERE struct_pack(a := age) IS NULL
SELECT COUNT(*) FROM visits WHERE (x -> x + 1)(age) > 1
SELECT COUNT(*) FROM visits WHERE list_transform([age], x -> x + 1) IS NULL
SELECT COUNT([a FOR a IN [1, 2]]) FROM visits
SELECT COUNT(*) FROM visits WHERE age IS DISTINCT FROM 3
SELECT COUNT(*) FROM visits WHERE age ISNULL AND age BETWEEN SYMMETRIC 5 AND 1
SELECT COUNT(*) FROM visits WHERE name[1] = 'A'
SELECT COUNT(*) FROM visits WHERE name[1:2] = 'A'
SELECT COUNT(*) FROM visits WHERE visits.name.first = 'A'
SELECT COUNT(*) FROM visits WHERE name.first() = 'A'
SELECT COUNT(*) FROM visits WHERE age.abs() > 1
SELECT unnest([1, 2]), COUNT(*) FROM visits GROUP BY 1
SELECT generate_series(1, 3), COUNT(*) FROM visits GROUP BY 1
SELECT COUNT(*) FROM visits; SELECT COUNT(*) FROM visits
SELECT COUNT(*) FROM visits; DROP TABLE visits
SELECT COUNT(*) FROM visits; --
SELECT COUNT(*) FROM visits;; SELECT 1
; DROP TABLE visits; SELECT COUNT(*) FROM visits
SELECT COUNT(*) FROM visits WHERE name = '' OR 1=1; DROP TABLE visits --'
SELECT COUNT(*) FROM visits WHERE name = $$ab$$ || error('x')
SELECT COUNT(*) FROM visits WHERE name = $tag$ x $tag$ || md5('x')
SELECT COUNT(*) FROM visits WHERE name = E'\\x41' || md5('x')
SELECT COUNT(*) FROM visits /* ; */ , wards
SELECT COUNT(*) FROM /* visits */ wards2
SELECT COUNT(*) FROM vis/**/its
SELECT COUNT(*) FROM "VISITS "
SELECT COUNT(*) FROM "visits\u200b"
SELECT COUNT(*) FROM vi\u0455its
SELECT COUNT(*) FROM \uff56\uff49\uff53\uff49\uff54\uff53
SELECT COUNT(\uff0a) FROM visits
SELECT\u00a0read_text('/etc/passwd')
SELECT COUNT(*) FROM visits WHERE name = \u2018a\u2019
SELECT COUNT(*) FROM visits WHERE \u202eage = 1
SELECT COUNT(*) FROM [visits]
SELECT COUNT(*) FROM `visits; DROP`
SELECT COUNT(*) FROM visits WHERE "age" = "north"
SELECT COUNT(*) FROM visits WHERE #1 = 1
SELECT COUNT(*) FROM visits GROUP BY #1
SELECT COUNT(*) FROM visits WHERE getenv('HOME') = 'x'
SELECT COUNT(*) FROM visits WHERE current_setting('threads') = '1'
SELECT COUNT(*) FROM visits WHERE nextval('s') > 0
SELECT COUNT(*) FROM visits WHERE txid_current() > 0
SELECT COUNT(*) FROM visits WHERE currval('s') > 0
SELECT COUNT(*) FROM visits WHERE pg_typeof(age) = 'x'
SELECT COUNT(*) FROM visits WHERE typeof(age) = 'x'
SELECT COUNT(*) FROM visits WHERE stats(age) = 'x'
SELECT COUNT(*) FROM visits WHERE write_log('x')
SELECT COUNT(*) FROM visits WHERE add_parquet_key('a', 'b')
SELECT COUNT(*) FROM visits WHERE in_search_path('a', 'b')
SELECT COUNT(*) FROM visits WHERE has_table_privilege('visits', 'select')
SELECT COUNT(*) FROM visits GROUP BY 2
SELECT COUNT(*) FROM visits GROUP BY 0
SELECT COUNT(*) FROM visits GROUP BY 1.5
SELECT COUNT(*) FROM visits GROUP BY 'north'
SELECT COUNT(*) FROM visits ORDER BY 9
SELECT COUNT(*) FROM nothing
SELECT nothing FROM visits
SELECT COUNT(nothing) FROM visits
SELECT NOTHING(age) FROM visits
SELECT COUNT(wards.beds) FROM visits
SELECT COUNT(visits.age) FROM visits AS v
SELECT n FROM (SELECT COUNT(*) AS n FROM visits) WHERE m > 1
SELECT SUM(MAX(n)) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward)
SELECT ward, MAX(n) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward)
SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM visits) WHERE MAX(n) > 1
SELECT MEDIAN(n) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward)
SELECT ROW_NUMBER() OVER (ORDER BY n) FROM (SELECT COUNT(*) AS n FROM visits)
SELECT read_text('/etc/passwd') FROM (SELECT COUNT(*) AS n FROM visits)
SELECT n FROM (SELECT COUNT(*) AS n FROM visits), wards
SELECT n FROM (SELECT COUNT(*) AS n FROM visits) UNION ALL SELECT 1
SELECT COUNT(DISTINCT n) FROM (SELECT COUNT(*) AS n FROM visits)
SELECT COUNT(*) FROM visits WHERE age > 1e400
SELECT COUNT(*) FROM visits WHERE day = DATE '2026-02-30'
SELECT COUNT(*) FROM visits WHERE arrived = TIMESTAMP '2026-01-01 00:00:00+02'
SELECT COUNT(*) FROM visits WHERE day = DATE 'infinity'
SELECT COUNT(*) FROM visits WHERE SUBSTRING(name, -1, 2) = 'x'
SELECT COUNT(*) FROM visits WHERE SUBSTRING(name, age, 2) = 'x'
SELECT COUNT(*) FROM visits WHERE CLAMP(age, stay, 3) = 1
SELECT COUNT(*) FROM visits WHERE CLAMP(age, 5, 3) = 1
SELECT COUNT(*) FROM visits WHERE age + name = 1
SELECT COUNT(*) FROM visits WHERE age = name
SELECT COUNT(*) FROM visits WHERE NOT age
SELECT COUNT(*) FROM visits WHERE age
SELECT COUNT(*) FROM visits WHERE age LIKE 'a'
SELECT COUNT(*) FROM visits WHERE EXTRACT(hour FROM day) = 1
SELECT COUNT(*) FROM visits WHERE DATE_TRUNC('hour', arrived) IS NULL
SELECT COUNT(*) FROM visits WHERE DATE_TRUNC(ward, day) IS NULL
SELECT COUNT(*) FROM visits WHERE ROUND(cost, age) = 1
SELECT COUNT(*) FROM visits WHERE ROUND(cost, -2) = 1
""".strip("\n").split("\n")
"""One a line; ``\\u`` escapes are written out when this file is read."""

LONG = [
    "SELECT COUNT(*) FROM visits WHERE " + "(" * 500 + "urgent" + ")" * 500,
    "SELECT COUNT(*) FROM visits WHERE " + "NOT " * 5000 + "urgent",
    "SELECT COUNT(*) FROM visits WHERE " + " OR ".join(["urgent"] * 5000),
    "SELECT COUNT(*) FROM visits WHERE age" + " + age" * 5000 + " > 1",
    "SELECT COUNT(*) FROM visits WHERE " + "-" * 3000 + "age > 1",
    "SELECT COUNT(*) FROM visits WHERE " + "- " * 3000 + "age > 1",
    "SELECT COUNT(*) FROM visits WHERE "
    + "ABS(" * 90
    + "age"
    + " + 1)" * 90
    + " > 1"
    + " + 1" * 99,
    "SELECT SUM(" + "CLAMP(" * 40 + "weight" + ", 0, 9)" * 40 + ") FROM visits",
    "SELECT COUNT(*) FROM visits WHERE " + "SQRT(" * 60 + "weight" + " - 1)" * 60 + " > 1",
    "SELECT COUNT(*) FROM visits WHERE "
    + "CASE WHEN urgent THEN " * 99
    + "1"
    + " END" * 99
    + " = 1",
    "SELECT COUNT(a) FROM (" * 60
    + "SELECT age AS a FROM visits"
    + "".join(f") AS s{level}" for level in range(60)),
    "SELECT COUNT(*) FROM visits WHERE name = '" + "x" * 200_000 + "'",
    "SELECT COUNT(*) FROM visits\0",
    "SELECT COUNT(*) FROM visits WHERE name = '\ud800'",
    "",
    " ",
    "--",
    ";",
    "(",
    "'",
    '"',
    "/*",
    "$$",
]
"""Too long, too deep, or hardly there at all."""


def doubled(levels: int) -> str:
    """A short text whose names stand for an expression of 2**levels parts."""
    text = "SELECT age AS a FROM visits"
    for level in range(levels):
        text = f"SELECT a + a AS a FROM ({text}) AS s{level}"
    return f"SELECT SUM(a) FROM ({text}) AS s"
