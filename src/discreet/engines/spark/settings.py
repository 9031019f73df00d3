"""The settings of Spark that decide what a query means, each at the one value that we mean.

A cluster's administrators, or whoever shared a session before us, may have set others. So every
session of ours begins with these, and reads them back.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pyspark.sql import SparkSession

from discreet.errors import Unsupported

PINNED: Mapping[str, str] = MappingProxyType(
    {
        # What operators and casts do.
        "spark.sql.ansi.enabled": "true",
        "spark.sql.ansi.doubleQuotedIdentifiers": "false",
        "spark.sql.ansi.enforceReservedKeywords": "false",
        "spark.sql.caseSensitive": "false",
        "spark.sql.decimalOperations.allowPrecisionLoss": "true",
        "spark.sql.function.concatBinaryAsString": "false",
        "spark.sql.groupByOrdinal": "true",
        "spark.sql.orderByOrdinal": "true",
        # What time it is.
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.timestampType": "TIMESTAMP_LTZ",
        # How text is read: nothing between quotes stands for anything else. With the first of
        # these, Spark would put its own settings, and secrets, where a string says ${...}.
        "spark.sql.variable.substitute": "false",
        "spark.sql.parser.quotedRegexColumnNames": "false",
        "spark.sql.runSQLOnFiles": "true",
        # What is in a file. Dates before 1582 are as they stand, and raise nothing.
        "spark.sql.files.ignoreCorruptFiles": "false",
        "spark.sql.files.ignoreMissingFiles": "false",
        "spark.sql.parquet.binaryAsString": "false",
        "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
        "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
        "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
        "spark.sql.parquet.int96RebaseModeInWrite": "CORRECTED",
        "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        "spark.sql.parquet.fieldId.read.enabled": "false",
        "spark.sql.avro.datetimeRebaseModeInRead": "CORRECTED",
        # Files that were written at different times may have different columns.
        "spark.sql.parquet.mergeSchema": "true",
        "spark.sql.orc.mergeSchema": "true",
        # A file's statistics leave NaN out: whether a row is read must not depend on the others.
        "spark.sql.parquet.filterPushdown": "false",
        "spark.sql.parquet.aggregatePushdown": "false",
        "spark.sql.orc.filterPushdown": "false",
        "spark.sql.orc.aggregatePushdown": "false",
        # A cancelled query lets go of its workers at once.
        "spark.sql.execution.interruptOnCancel": "true",
    }
)
LEGACY = "spark.sql.legacy."


def pin(session: SparkSession) -> SparkSession:
    """The session with every setting as it is meant; one that cannot be made so is refused."""
    for row in session.sql("SET").collect():
        if row[0].startswith(LEGACY):
            session.conf.unset(row[0])
    for name, value in PINNED.items():
        session.conf.set(name, value)
    for name, value in PINNED.items():
        if session.conf.get(name) != value:
            raise Unsupported(
                f"this Spark does not let {name} be {value}.",
                hint="use a Spark whose administrators allow a session settings of its own.",
            )
    return session
