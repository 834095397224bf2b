"""The units and settings of docs/operations.md, run as they are written there, but on this host."""

import re
import shlex
import signal
import subprocess
import sys
import time
from configparser import RawConfigParser
from pathlib import Path

from arena.bots import versions
from arena.cli.local import arena_command
from arena.core.specs import make_spec
from arena.host.processes import Supervisor
from arena.host.settings import PREFIX, load_settings
from arena.store.models import utc_now
from arena.tournaments import creation, lifecycle, overview
from arena.tournaments.referees import nobody_asked
from tests.arena import servers
from tests.arena.databases import open_new
from tests.arena.fakes import ROOT
from tests.arena.ports import LOOPBACK, free_port
from tests.arena.running import SAMPLE_BOTS
from tests.arena.servers import Postgres
from tests.waiting import DEADLINE, wait_for

BLOCKS = {
    found[1]: found[2]
    for found in re.finditer(
        r"^```(?:ini|sh)\n# (/etc/\S+)\n(.*?)^```",
        (Path(__file__).parents[2] / "docs" / "operations.md").read_text(),
        re.MULTILINE | re.DOTALL,
    )
}
"""The files that the guide shows, by their paths."""

UNITS = {Path(path).stem: text for path, text in BLOCKS.items() if path.endswith(".service")}

BOTS = ["ann/one", "bob/two", "cy/three", "dee/four"]


def settings_file() -> dict[str, str]:
    """Return the guide's settings as systemd reads them."""
    lines = shlex.split(BLOCKS["/etc/arena/arena.env"])
    return dict(line.split("=", 1) for line in lines)


def parsed(unit: str) -> RawConfigParser:
    parser = RawConfigParser(strict=False)
    parser.read_string(UNITS[unit])
    return parser


def command(unit: str, instance: str) -> list[str]:
    """Return the command that a unit runs."""
    text = parsed(unit)["Service"]["ExecStart"].replace("%i", instance).replace("%H", LOOPBACK)
    program, *arguments = shlex.split(text.replace("0.0.0.0", LOOPBACK))
    assert program == "/opt/arena/.venv/bin/arena"
    return [*arena_command(*arguments)]


def test_settings_when_taken_from_the_guide_then_they_are_good() -> None:
    named = {name.removeprefix(PREFIX).lower(): text for name, text in settings_file().items()}
    settings = load_settings(named)
    assert settings.database_url == settings_file()["ARENA_DATABASE_URL"]
    assert len(settings.referees) == 2


def test_units_when_taken_from_the_guide_then_they_play_a_tournament_and_stop_cleanly(
    tmp_path: Path, postgres: Postgres
) -> None:
    ports = [str(free_port()), str(free_port())]
    places = {f"referee{port}": ("arena-referee@", port) for port in ports}
    places |= {f"worker{number}": ("arena-worker@", number) for number in ("1", "2")}
    places["beat"] = ("arena-beat", "")
    assert {unit for unit, _ in places.values()} == set(UNITS)
    with servers.redis() as redis:
        here = {
            "ARENA_DATA": str(tmp_path / "arena"),
            "ARENA_DATABASE_URL": postgres.create_migrated("guide"),
            "ARENA_BROKER_URL": f"redis://{LOOPBACK}:{redis}/0",
            "ARENA_REFEREES": ",".join(f"{LOOPBACK}:{port}" for port in ports),
        }
        environment = settings_file() | here
        settings = load_settings(
            {name.removeprefix(PREFIX).lower(): text for name, text in environment.items()}
        )
        with open_new(settings) as storage, Supervisor(settings.logs, environment) as supervisor:
            for name, (unit, instance) in places.items():
                stop = signal.Signals[parsed(unit)["Service"]["KillSignal"]]
                supervisor.start(name, command(unit, instance), stop_with=stop)
            tokens = [versions.register_version(storage, ROOT, name, utc_now()).token for name in BOTS]
            for number, token in enumerate(tokens):
                variables = {"ARENA_TOKEN": token, "ARENA_REFEREE": here["ARENA_REFEREES"]}
                supervisor.start(f"bot{number}", [sys.executable, str(SAMPLE_BOTS / "greedy.py")], variables)
            cup = {"name": "cup", "format": "round-robin", "rounds": 2, "ruleset": "chinese", "sessions": 4}
            creation.create(storage, ROOT, make_spec(cup | {"deals": 2, "entrants": BOTS}), utc_now())
            lifecycle.start(
                storage, ROOT, "cup", utc_now(), nobody_asked
            )  # nothing but the beat wakes a worker here
            wait_for(lambda: overview.status(storage, "cup").ended, meanwhile=supervisor.check)
            assert overview.status(storage, "cup").state == "finished"
            check = [*arena_command("doctor")]
            doctor = subprocess.run(check, env=environment, capture_output=True, text=True, timeout=DEADLINE)
            assert doctor.returncode == 0, doctor.stdout + doctor.stderr
            for name in places:
                before = time.monotonic()
                supervisor.stop(name)
                assert time.monotonic() - before < float(parsed(places[name][0])["Service"]["TimeoutStopSec"])
        logs = {name: (settings.logs / f"{name}.log").read_text() for name in places}
        assert {name: text for name, text in logs.items() if "Traceback" in text} == {}
