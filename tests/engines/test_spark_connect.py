"""A Spark Connect server as the engine: the same, over the network, and lost when it is lost."""

import os
import socket
import subprocess
import threading
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.engines.spark import Spark
from discreet.errors import EngineFailed
from tests.spark import require_java

FOR_EVER = "SELECT SUM(HASH(id) % 7) AS s FROM RANGE(0, 100000000000, 1, 8)"

# What the administrators of this server like is not what we mean.
THEIRS = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "Asia/Tokyo",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
    "spark.ui.enabled": "false",
    "spark.connect.grpc.binding.address": "127.0.0.1",
}


class Server:
    """A process of its own, which can be killed."""

    def __init__(self) -> None:
        import pyspark

        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        settings = THEIRS | {"spark.connect.grpc.binding.port": str(self.port)}
        given = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
        home = Path(pyspark.__file__).parent
        self.process = subprocess.Popen(
            [
                str(home / "bin" / "spark-submit"),
                *("--master", "local[2]", *given, "--class"),
                "org.apache.spark.sql.connect.service.SparkConnectServer",
                "spark-internal",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"SPARK_HOME": str(home)},
        )
        while not self._answers():
            assert self.process.poll() is None, "the server has ended"
            time.sleep(0.3)

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.mark.xdist_group("spark")
def test_a_server_is_asked_like_any_other_spark_and_is_lost_like_any_other(tmp_path):
    require_java()
    pq.write_table(pa.table({"a": [1, 2, 3]}), tmp_path / "rows.parquet")
    source = f"`parquet`.`{tmp_path}/rows.parquet`"
    server = Server()
    engine = Spark(
        tmp_path / "kept",
        relation=source,
        address=f"sc://127.0.0.1:{server.port}",
        where="env:SPARK_REMOTE",
        snapshots=(tmp_path / "there").as_uri(),
        reader="spark",
    )
    try:
        assert engine.types() == {"a": "bigint"}
        seen: list[float] = []
        engine.prepare(f"SELECT a + 1 AS a FROM {source}", progress=seen.append)
        assert seen[-1] == 1.0
        summed = "SELECT SUM(a) AS s FROM snapshot"
        assert engine.run(summed).to_pylist() == [{"s": 9}]

        told = engine.run_live("SELECT CURRENT_TIMEZONE() AS z, '${spark.master}' AS t").to_pylist()
        assert told == [{"z": "UTC", "t": "${spark.master}"}]
        with pytest.raises(EngineFailed) as in_ansi_mode:
            engine.run_live("SELECT CAST('ALICE-SECRET' AS INT)")
        assert "ALICE" not in str(in_ansi_mode.value)

        with pytest.raises(EngineFailed):
            engine.run_live(FOR_EVER, timeout=1)
        threading.Timer(1, engine.cancel).start()
        with pytest.raises(EngineFailed):
            engine.run_live(FOR_EVER)
        assert engine.run(summed).to_pylist() == [{"s": 9}]

        server.kill()
        with pytest.raises(EngineFailed):
            engine.run(summed)
    finally:
        server.kill()
        engine.close()
