"""The tables of the PostgreSQL store, and how older ones come up to date."""

from __future__ import annotations

MIGRATIONS = (
    # 1: the same tables as in the SQLite store.
    """
    CREATE TABLE meta (
        name text PRIMARY KEY,
        value text NOT NULL
    );
    CREATE TABLE entries (
        seq bigint PRIMARY KEY CHECK (seq > 0),
        hash bytea NOT NULL CHECK (length(hash) = 32),
        body text NOT NULL CHECK (length(body) > 0)
    );
    CREATE TABLE datasets (
        name text PRIMARY KEY CHECK (name <> ''),
        people text NOT NULL CHECK (people <> ''),
        relation text NOT NULL,
        accountant text NOT NULL
    );
    CREATE TABLE accounts (
        kind text NOT NULL CHECK (kind IN ('people', 'analyst')),
        name text NOT NULL CHECK (name <> ''),
        analyst text NOT NULL CHECK ((analyst = '') = (kind = 'people')),
        cap bigint NOT NULL CHECK (cap <= 4000000000000000000),
        cap_delta bigint NOT NULL CHECK (cap_delta <= 4000000000000000000),
        spent bigint NOT NULL CHECK (spent BETWEEN 0 AND cap),
        spent_delta bigint NOT NULL CHECK (spent_delta BETWEEN 0 AND cap_delta),
        epsilon text NOT NULL,
        delta text NOT NULL,
        revoked boolean NOT NULL,
        PRIMARY KEY (kind, name, analyst)
    ) WITH (fillfactor = 50);
    CREATE TABLE marks (
        mark bytea PRIMARY KEY CHECK (length(mark) = 16),
        seq bigint NOT NULL
    );
    CREATE TABLE answers (
        reserved bigint PRIMARY KEY,
        settled bigint NOT NULL CHECK (settled > reserved),
        answer bytea NOT NULL
    );
    """,
    # 2: what is append-only and never refunded is so for every client.
    """
    CREATE FUNCTION stays() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$;
    CREATE TRIGGER entries_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON entries
        EXECUTE FUNCTION stays();
    CREATE TRIGGER answers_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON answers
        EXECUTE FUNCTION stays();
    CREATE FUNCTION refunds() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'nothing is refunded'; END $$;
    CREATE TRIGGER nothing_is_refunded BEFORE UPDATE ON accounts FOR EACH ROW
        WHEN (new.spent < old.spent OR new.spent_delta < old.spent_delta)
        EXECUTE FUNCTION refunds();
    """,
    # 3: the same checks, but a charge does not pay for those that it cannot break: the server
    # reads each check anew in every statement.
    """
    ALTER TABLE entries
        DROP CONSTRAINT entries_seq_check,
        DROP CONSTRAINT entries_hash_check,
        DROP CONSTRAINT entries_body_check,
        ADD CONSTRAINT entries_are_sound
            CHECK (seq > 0 AND length(hash) = 32 AND length(body) > 0);
    ALTER TABLE accounts
        DROP CONSTRAINT accounts_kind_check,
        DROP CONSTRAINT accounts_name_check,
        DROP CONSTRAINT accounts_check,
        DROP CONSTRAINT accounts_cap_check,
        DROP CONSTRAINT accounts_cap_delta_check,
        DROP CONSTRAINT accounts_check1,
        DROP CONSTRAINT accounts_check2,
        ADD CONSTRAINT spent_within_cap
            CHECK (spent BETWEEN 0 AND cap AND spent_delta BETWEEN 0 AND cap_delta);
    CREATE FUNCTION sound_account() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF (new.kind IN ('people', 'analyst') AND new.name <> ''
                AND (new.analyst = '') = (new.kind = 'people')
                AND new.cap <= 4000000000000000000 AND new.cap_delta <= 4000000000000000000) THEN
                RETURN new;
            END IF;
            RAISE EXCEPTION 'no such account can be' USING ERRCODE = 'check_violation';
        END $$;
    CREATE TRIGGER accounts_are_sound
        BEFORE INSERT OR UPDATE OF kind, name, analyst, cap, cap_delta ON accounts
        FOR EACH ROW EXECUTE FUNCTION sound_account();
    """,
    # 4: a data set remembers what else its guarantee rests on.
    """
    ALTER TABLE datasets ADD COLUMN basis text NOT NULL DEFAULT '';
    """,
)

VERSION = len(MIGRATIONS)
