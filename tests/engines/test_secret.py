"""A secret is named, read when it is needed, and shown nowhere."""

import pytest

import discreet
from discreet.engines.secret import Secret
from discreet.errors import InvalidInput

TEXT = "postgresql://reader:hunter2@host/hospital"
SPARK = """
[dataset.visits]
source = { kind = "spark", table = "visits", connection = "env:SPARK_REMOTE" }
unit = "patient"
rows_per_unit = 3
columns.patient = { type = "text" }
budget = { epsilon = 1, accountant = "pure" }
analysts.ann = { epsilon = 1 }
"""


def test_it_is_read_from_the_environment(monkeypatch):
    monkeypatch.setenv("HOSPITAL_DSN", f" {TEXT}\n")
    secret = Secret("env:HOSPITAL_DSN")
    assert secret.reveal() == TEXT
    assert "hunter2" not in repr(secret) + str(secret) + str(secret.__reduce_ex__(2))


def test_it_is_read_from_a_file_beside_the_policy(tmp_path):
    (tmp_path / "hospital.dsn").write_text(f"{TEXT}\n")
    (tmp_path / "hospital.dsn").chmod(0o600)
    assert Secret("file:hospital.dsn", tmp_path).reveal() == TEXT
    assert Secret(f"file:{tmp_path}/hospital.dsn").reveal() == TEXT


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620, 0o666])
def test_a_file_that_others_may_read_or_change_is_refused(tmp_path, mode):
    file = tmp_path / "hospital.dsn"
    file.write_text(TEXT)
    file.chmod(mode)
    with pytest.raises(InvalidInput, match=f"mode {mode:04o}") as refusal:
        Secret("file:hospital.dsn", tmp_path).reveal()
    assert refusal.value.hint == f"chmod 600 {file}"
    assert "hunter2" not in str(refusal.value)


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv("HOSPITAL_DSN", raising=False)
    with pytest.raises(InvalidInput, match='no variable "HOSPITAL_DSN"'):
        Secret("env:HOSPITAL_DSN").reveal()
    with pytest.raises(InvalidInput, match="cannot be read: No such file"):
        Secret("file:hospital.dsn", tmp_path).reveal()
    monkeypatch.setenv("HOSPITAL_DSN", "  ")
    with pytest.raises(InvalidInput, match="is empty"):
        Secret("env:HOSPITAL_DSN").reveal()
    (tmp_path / "hospital.dsn").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "hospital.dsn").chmod(0o600)
    with pytest.raises(InvalidInput, match="it is not text"):
        Secret("file:hospital.dsn", tmp_path).reveal()


@pytest.mark.parametrize(
    ("kind", "example"),
    [("postgres", "postgresql://reader@host/database"), ("spark", "sc://host:15002")],
)
def test_a_hint_says_what_to_write_for_what_is_connected_to(kind, example, tmp_path, monkeypatch):
    monkeypatch.delenv("SERVER", raising=False)
    with pytest.raises(InvalidInput) as missing:
        Secret("env:SERVER", kind=kind).reveal()
    assert missing.value.hint == f"export SERVER='{example}'"
    monkeypatch.setenv("SERVER", "")
    with pytest.raises(InvalidInput) as empty:
        Secret("env:SERVER", kind=kind).reveal()
    assert empty.value.hint == f"{example}, say"
    with pytest.raises(InvalidInput) as unread:
        Secret("file:server", tmp_path, kind=kind).reveal()
    assert unread.value.hint == f"write {example} into {tmp_path / 'server'}, and chmod 600 it"


def test_a_policy_that_names_a_spark_server_is_told_how_to_write_one(tmp_path, monkeypatch):
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    (tmp_path / "policy.toml").write_text(SPARK)
    with pytest.raises(InvalidInput, match="SPARK_REMOTE") as missing:
        discreet.open(tmp_path / "policy.toml")
    assert missing.value.hint == "export SPARK_REMOTE='sc://host:15002'"
