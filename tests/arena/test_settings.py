"""Settings: where they come from, what is refused, what is hidden."""

import stat
from pathlib import Path

import pytest

from arena.errors import SettingsError
from arena.settings import Settings, load_settings


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings from outside, and a folder of the test's own to be in."""
    for name in Settings.model_fields:
        monkeypatch.delenv(f"ARENA_{name.upper()}", raising=False)
    monkeypatch.delenv("ARENA_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)


def test_settings_when_nothing_is_set_then_everything_is_in_the_data_folder(tmp_path: Path) -> None:
    settings = load_settings()
    data = tmp_path / ".arena"
    assert settings.data == data
    assert settings.database_url == f"sqlite:///{data}/arena.db"
    assert settings.broker_url == f"filesystem://{data}/broker"
    assert settings.referees == (settings.listen,)
    assert not data.exists()


def test_settings_when_given_in_several_places_then_call_beats_environment_beats_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "arena.toml"
    file.write_text('worker_threads = 1\nlease_seconds = 1\nlisten = "h:1"\nreferees = ["a:1", "b:2"]')
    monkeypatch.setenv("ARENA_CONFIG", str(file))
    monkeypatch.setenv("ARENA_WORKER_THREADS", "2")
    monkeypatch.setenv("ARENA_LEASE_SECONDS", "2")
    settings = load_settings({"worker_threads": 3})
    assert (settings.worker_threads, settings.lease_seconds, settings.listen) == (3, 2, "h:1")
    assert settings.referees == ("a:1", "b:2")


def test_settings_when_the_data_folder_has_a_file_then_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "arena.toml").write_text("beat_seconds = 9")
    assert load_settings({"data": tmp_path}).beat_seconds == 9


def test_referees_when_separated_by_commas_then_they_are_several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_REFEREES", "a:1, b:2")
    assert load_settings().referees == ("a:1", "b:2")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("WORKER_THREADS", "many", "setting worker_threads: Input should be a valid integer"),
        ("LEASE_SECONDS", "0", "setting lease_seconds: Input should be greater than 0"),
        ("LISTEN", "8710", "setting listen: '8710' is not host:port"),
        ("REFEREES", "a:1,b", "setting referees: 'b' is not host:port"),
        ("DATABASE_URL", "my.db", "setting database_url: not a database URL"),
        ("DATABASE_URL", "sqlite://", "setting database_url: SQLite needs a file"),
        ("BROKER_URL", "rabbit://host", "setting broker_url: not a broker URL"),
        ("CONFIG", "/nowhere/arena.toml", "setting ARENA_CONFIG: no file /nowhere/arena.toml"),
    ],
)
def test_setting_when_it_is_wrong_then_one_line_names_it(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str
) -> None:
    monkeypatch.setenv(f"ARENA_{name}", value)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("worker_thread = 3", "setting worker_thread: no such setting"),
        ("worker_threads = ", "setting ARENA_CONFIG: the settings file is not TOML"),
    ],
)
def test_file_when_it_is_wrong_then_one_line_says_so(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "arena.toml").write_text(content)
    with pytest.raises(SettingsError, match=message):
        load_settings({"data": tmp_path})


def test_data_when_it_cannot_be_written_then_one_line_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match=r"setting data: cannot write in .*file/arena"):
        load_settings({"data": tmp_path / "file" / "arena"}).prepare()


def test_worker_secret_when_not_set_then_it_is_drawn_once_and_kept_for_the_owner_only(tmp_path: Path) -> None:
    first, second = load_settings({"data": tmp_path}), load_settings({"data": tmp_path})
    assert first.worker_secret() == second.worker_secret()
    assert len(first.worker_secret()) > 40
    assert stat.S_IMODE((tmp_path / "worker-token").stat().st_mode) == 0o600


def test_worker_secret_when_set_then_nothing_is_written(tmp_path: Path) -> None:
    assert load_settings({"data": tmp_path, "worker_token": "hush"}).worker_secret() == "hush"
    assert list(tmp_path.iterdir()) == []


def test_shown_when_there_are_secrets_then_they_are_hidden() -> None:
    secret = {
        "worker_token": "hush",
        "database_url": "postgresql://ann:hush@host/arena",
        "broker_url": "amqp://ann:hush@host",
    }
    settings = load_settings(secret)
    assert "hush" not in str(settings.shown())
    assert "host" in settings.shown()["broker_url"]


def test_environment_when_given_to_a_child_then_it_has_the_same_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = load_settings({"worker_token": "hush", "referees": "a:1,b:2", "lease_seconds": 2.5})
    for name, value in settings.environment().items():
        monkeypatch.setenv(name, value)
    assert load_settings() == settings
