"""The sample bots in Python, by their names, and starter programs in several languages."""

import sys
from pathlib import Path

SAMPLE_BOTS = Path(__file__).with_name("sample_bots")
"""The folder of the sample bots; in a checkout, a link to ``sample_bots/python``."""


def sample_bots() -> dict[str, Path]:
    """Return the files of the sample bots by their names."""
    files = sorted(SAMPLE_BOTS.glob("*.py"))
    return {file.stem.removesuffix("_bot").replace("_", "-"): file for file in files}


def sample_command(name: str) -> list[str]:
    """Return the command that starts a sample bot."""
    return [sys.executable, str(sample_bots()[name])]


STARTERS = Path(__file__).with_name("starters")
FROM_SAMPLES = {
    "python": (),
    "cpp": (
        "src/client/*",
        "src/bot/main.cpp",
        *(f"proto/referee/v1/{name}.proto" for name in ("bots", "cards", "errors")),
        "proto/google/rpc/details.proto",
        "CMakeLists.txt",
    ),
    "go": ("client/*.go", "referee/v1/*.go", "go.mod", "go.sum", "main.go"),
    "java": (
        "src/main/java/bigtwo/client/*.java",
        "src/main/java/bigtwo/bot/Main.java",
        *(f"src/main/proto/referee/v1/{name}.proto" for name in ("bots", "cards", "errors")),
        "pom.xml",
    ),
    "rust": (
        "src/client/*.rs",
        "src/*.rs",
        *(f"proto/referee/v1/{name}.proto" for name in ("bots", "cards", "errors")),
        "Cargo.*",
        "build.rs",
        "rustfmt.toml",
    ),
    "typescript": ("src/*.ts", "src/gen/**/*.ts", "package*.json", "tsconfig.json", ".npmrc"),
}
"""Files that a starter takes from the sample bot of its language, unless it has its own."""
PLACEHOLDER = b"MY_BOT"


def starter(language: str, name: str) -> dict[str, bytes]:
    """Return the files of a starter for a bot of this name. Raise KeyError for an unknown language."""
    base, own = STARTERS / "base" / language, STARTERS / language
    files = {
        path.relative_to(base).as_posix(): path.read_bytes()
        for pattern in FROM_SAMPLES[language]
        for path in base.glob(pattern)
        if not path.name.endswith("_test.go")
    }
    for path in own.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            files[path.relative_to(own).as_posix()] = path.read_bytes()
    files["README.md"] = files["README.md"].replace(PLACEHOLDER, name.encode())
    return files
