"""The sample bots in Python, by their names, and starter programs in several languages."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

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


class Toolchain(NamedTuple):
    """How a starter in a language is built, tested and started, in its folder."""

    strategy: str
    """The file that its author changes."""
    needs: str
    """What must be installed, in words."""
    tools: tuple[str, ...]
    """Programs that must be there."""
    where: str
    """Where to get them."""
    steps: tuple[tuple[str, ...], ...]
    start: tuple[str, ...]
    """The last word is a path in the folder."""
    ignored: tuple[str, ...]
    """What in the folder is not source, for its ``.gitignore``."""

    @property
    def build_command(self) -> str:
        """The steps as they are typed in a shell."""
        return " && ".join(map(typed, self.steps))

    @property
    def start_command(self) -> str:
        """How it is started in its folder, as typed in a shell."""
        program, last = self.start[:-1], self.start[-1]
        return typed([*program, last if program or "/" in last else f"./{last}"])


TOOLCHAINS: dict[str, Toolchain] = {
    "python": Toolchain(
        "bot.py",
        "Python 3.11",
        (),
        "",
        ((sys.executable, "-m", "unittest"),),
        (sys.executable, "bot.py"),
        ("__pycache__/",),
    ),
    "cpp": Toolchain(
        "src/bot/planner.cpp",
        "C++20, CMake and gRPC",
        ("cmake", "c++", "pkg-config", "protoc", "grpc_cpp_plugin"),
        "https://grpc.io/docs/languages/cpp; on Debian, apt install "
        "cmake g++ pkg-config libgrpc++-dev libprotobuf-dev libssl-dev protobuf-compiler-grpc libgtest-dev",
        (
            ("cmake", "-S", ".", "-B", "build"),
            ("cmake", "--build", "build"),
            ("ctest", "--test-dir", "build", "--output-on-failure"),
        ),
        ("build/bot",),
        ("/build/",),
    ),
    "go": Toolchain(
        "strategy.go",
        "Go 1.26",
        ("go",),
        "https://go.dev/dl",
        (("go", "test", "."), ("go", "build", "-o", "bot", ".")),
        ("bot",),
        ("/bot",),
    ),
    "java": Toolchain(
        "src/main/java/bigtwo/bot/Planner.java",
        "Java 17 and Maven",
        ("java", "mvn"),
        "https://adoptium.net and https://maven.apache.org",
        (("mvn", "--batch-mode", "--quiet", "package"),),
        ("java", "-jar", "target/bot.jar"),
        ("/target/",),
    ),
    "rust": Toolchain(
        "src/strategy.rs",
        "Rust 1.88",
        ("cargo",),
        "https://rustup.rs",
        (("cargo", "test", "--release"), ("cargo", "build", "--release")),
        ("target/release/bot",),
        ("/target/",),
    ),
    "typescript": Toolchain(
        "src/strategy.ts",
        "Node.js 20",
        ("node", "npm"),
        "https://nodejs.org",
        (("npm", "ci", "--no-audit", "--no-fund", "--prefer-offline"), ("npm", "test")),
        ("node", "dist/src/main.js"),
        ("dist/", "node_modules/"),
    ),
}


def typed(step: Sequence[str]) -> str:
    """Return a command as it is typed in a shell."""
    return " ".join(["python" if word == sys.executable else word for word in step])


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
