"""PostgreSQL, where the data already live. Needs the extra ``discreet[postgres]``."""

from discreet.engines.words import not_installed

try:
    from discreet.engines.postgres.engine import Postgres
except ModuleNotFoundError as error:
    if error.name != "psycopg":
        raise
    raise not_installed("PostgreSQL", "postgres") from None

__all__ = ["Postgres"]
