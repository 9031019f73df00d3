"""The tables of the SQLite store, and how older files come up to date."""

from __future__ import annotations

APPLICATION_ID = 0x44734C67  # "DsLg": what `file` and we recognise it by

MIGRATIONS = (
    # 1: entries are the truth; the rest is derived from them and checked against them.
    """
    CREATE TABLE meta (
        name TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE entries (
        seq INTEGER PRIMARY KEY CHECK (seq > 0),
        hash BLOB NOT NULL CHECK (length(hash) = 32),
        body TEXT NOT NULL CHECK (length(body) > 0)
    ) STRICT;
    CREATE TABLE datasets (
        name TEXT PRIMARY KEY CHECK (name <> ''),
        people TEXT NOT NULL CHECK (people <> ''),
        relation TEXT NOT NULL,
        accountant TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE accounts (
        kind TEXT NOT NULL CHECK (kind IN ('people', 'analyst')),
        name TEXT NOT NULL CHECK (name <> ''),
        analyst TEXT NOT NULL CHECK ((analyst = '') = (kind = 'people')),
        cap INTEGER NOT NULL CHECK (cap <= 4000000000000000000),
        cap_delta INTEGER NOT NULL CHECK (cap_delta <= 4000000000000000000),
        spent INTEGER NOT NULL CHECK (spent BETWEEN 0 AND cap),
        spent_delta INTEGER NOT NULL CHECK (spent_delta BETWEEN 0 AND cap_delta),
        epsilon TEXT NOT NULL,
        delta TEXT NOT NULL,
        revoked INTEGER NOT NULL CHECK (revoked IN (0, 1)),
        PRIMARY KEY (kind, name, analyst)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE marks (
        mark BLOB PRIMARY KEY CHECK (length(mark) = 16),
        seq INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE answers (
        reserved INTEGER PRIMARY KEY,
        settled INTEGER NOT NULL CHECK (settled > reserved),
        answer BLOB NOT NULL
    ) STRICT;
    """,
    # 2: what is append-only and never refunded is so for everybody who opens the file.
    """
    CREATE TRIGGER entries_stay BEFORE UPDATE ON entries
        BEGIN SELECT raise(ABORT, 'an entry is never changed'); END;
    CREATE TRIGGER entries_are_kept BEFORE DELETE ON entries
        BEGIN SELECT raise(ABORT, 'an entry is never removed'); END;
    CREATE TRIGGER answers_stay BEFORE UPDATE ON answers
        BEGIN SELECT raise(ABORT, 'an answer is never changed'); END;
    CREATE TRIGGER answers_are_kept BEFORE DELETE ON answers
        BEGIN SELECT raise(ABORT, 'an answer is never removed'); END;
    CREATE TRIGGER nothing_is_refunded BEFORE UPDATE ON accounts
        WHEN new.spent < old.spent OR new.spent_delta < old.spent_delta
        BEGIN SELECT raise(ABORT, 'nothing is refunded'); END;
    """,
    # 3: a data set remembers what else its guarantee rests on.
    """
    ALTER TABLE datasets ADD COLUMN basis TEXT NOT NULL DEFAULT '';
    """,
    # 4: a lone charge is one statement; it aborts unless the entry before it is the one it follows.
    """
    CREATE VIEW charges AS SELECT
        0 AS seq, x'' AS hash, '' AS body, x'' AS before, x'' AS release, x'' AS key,
        '' AS people, 0 AS people_spent, 0 AS people_delta,
        '' AS dataset, '' AS analyst, 0 AS spent, 0 AS delta;
    CREATE TRIGGER charge INSTEAD OF INSERT ON charges BEGIN
        SELECT raise(ABORT, 'the ledger has moved on') WHERE NOT EXISTS (
            SELECT 1 FROM entries WHERE seq = new.seq - 1 AND hash = new.before
        );
        INSERT INTO entries VALUES (new.seq, new.hash, new.body);
        INSERT INTO marks VALUES (new.release, new.seq);
        INSERT INTO marks SELECT new.key, new.seq WHERE new.key IS NOT NULL;
        UPDATE accounts SET spent = new.people_spent, spent_delta = new.people_delta
            WHERE kind = 'people' AND name = new.people AND analyst = '';
        UPDATE accounts SET spent = new.spent, spent_delta = new.delta
            WHERE kind = 'analyst' AND name = new.dataset AND analyst = new.analyst;
    END;
    """,
)
"""Each brings a file from the version before to its own; a new file goes through all of them."""

VERSION = len(MIGRATIONS)
