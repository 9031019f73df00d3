"""A Spark for the benchmarks, and what it says of itself: what was sent from worker to worker."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.sql import SparkSession

MASTER = "local[2]"


@contextmanager
def running() -> Iterator[SparkSession]:
    """One Spark on two cores, as Tumult is given; sessions of ours take part in it."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master(MASTER)
        .config("spark.driver.memory", "8g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "8")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    try:
        yield spark
    finally:
        spark.stop()


@dataclass(frozen=True)
class Shuffled:
    """What one piece of work sent from worker to worker."""

    times: int
    records: int
    bytes: int


@contextmanager
def shuffling(spark: SparkSession) -> Iterator[list[Shuffled]]:
    """Fills the list with what is shuffled meanwhile, by Spark's own measure."""
    before = _stages(spark)
    found: list[Shuffled] = []
    yield found
    fresh = [each for stage, each in _stages(spark).items() if stage not in before]
    sent = [(records, size) for records, size in fresh if records]
    found.append(Shuffled(len(sent), sum(r for r, _ in sent), sum(b for _, b in sent)))


def _stages(spark: SparkSession) -> dict[int, tuple[int, int]]:
    """The records and bytes that each stage has sent so far."""
    context = spark.sparkContext
    gateway, jvm = context._gateway, context._jvm
    assert gateway is not None
    assert jvm is not None
    all_of_them = (None, False, False, gateway.new_array(gateway.jvm.double, 0))
    listed = context._jsc.sc().statusStore().stageList(*all_of_them, jvm.java.util.ArrayList())
    stages = [listed.apply(index) for index in range(listed.size())]
    return {
        stage.stageId(): (stage.shuffleWriteRecords(), stage.shuffleWriteBytes())
        for stage in stages
    }
