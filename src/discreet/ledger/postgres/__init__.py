"""A ledger in PostgreSQL, for several machines. Needs the extra ``discreet[postgres]``."""

from discreet.errors import NotInstalled

try:
    from discreet.ledger.postgres.store import PostgresStore
except ModuleNotFoundError as error:
    raise NotInstalled(
        f"a ledger in PostgreSQL needs the package {error.name}, which is not installed.",
        hint="pip install 'discreet[postgres]'",
    ) from error

__all__ = ["PostgresStore"]
