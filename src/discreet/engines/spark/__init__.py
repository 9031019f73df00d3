"""Apache Spark, where the data already live. Needs the extra ``discreet[spark]``."""

from discreet.engines.words import not_installed

try:
    from discreet.engines.spark.engine import Spark
except ModuleNotFoundError as error:
    if error.name not in ("pyspark", "py4j"):
        raise
    raise not_installed("Spark", "spark") from None

__all__ = ["Spark"]
