"""Fixtures with the sample bots in other languages, each built once for all tests."""

import subprocess
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from tests.builds import digest, have
from tests.needed import leave_out, require
from tests.sample_bots.toolchain import BUILD_SECONDS, SAMPLES, run_in, sources


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the tests of this folder time for a first build."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(BUILD_SECONDS + 100))


@pytest.fixture(scope="session")
def go() -> str:
    """Return the path of Go."""
    return require("go")


@pytest.fixture(scope="session")
def go_bot(go: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the bot in Go and return the path of its program."""
    path = tmp_path_factory.mktemp("go") / "sample-bot"
    run_in(SAMPLES / "go", go, "build", "-o", str(path), ".")
    return path


@pytest.fixture(scope="session")
def cmake() -> str:
    """Return the path of CMake, where the compiler and gRPC for C++ are installed, too."""
    for tool in ("c++", "pkg-config", "grpc_cpp_plugin"):
        require(tool)
    for library in ("grpc++", "protobuf", "gtest"):
        if subprocess.run(["pkg-config", "--exists", library]).returncode:
            leave_out(f"the library {library} is not installed")
    return require("cmake")


@pytest.fixture(scope="session")
def cpp_build(cmake: str) -> Path:
    """Build the bot in C++ and its tests as far as their sources have changed; return the folder."""
    folder = SAMPLES / "cpp"

    def build() -> None:
        run_in(folder, cmake, "-S", ".", "-B", "build", "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON")
        run_in(folder, cmake, "--build", "build")

    versions = run_in(folder, "pkg-config", "--modversion", "grpc++", "protobuf", "gtest")
    have(folder, "cpp", sources(folder, versions), ["build/bot", "build/tests"], build)
    return folder / "build"


@pytest.fixture(scope="session")
def cpp_bot(cpp_build: Path) -> Path:
    """Return the path of the program of the bot in C++."""
    return cpp_build / "bot"


@pytest.fixture(scope="session")
def mvn() -> str:
    """Return the path of Maven."""
    require("java")
    return require("mvn")


@pytest.fixture(scope="session")
def java_bot(mvn: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the bot in Java, if its sources have changed since the last build; return its start script."""
    folder = SAMPLES / "java"
    build = partial(run_in, folder, mvn, "--batch-mode", "--quiet", "package", "-DskipTests")
    have(folder, "java", sources(folder), ["target/bot.jar", "target/lib"], build)
    program = tmp_path_factory.mktemp("java") / "bot"
    program.write_text(f"#!/bin/sh\nexec {require('java')} -jar {folder / 'target' / 'bot.jar'}\n")
    program.chmod(0o755)
    return program


@pytest.fixture(scope="session")
def cargo() -> str:
    """Return the path of Cargo."""
    return require("cargo")


@pytest.fixture(scope="session")
def rust_bot(cargo: str) -> Path:
    """Build the bot in Rust and return the path of its program."""
    folder = SAMPLES / "rust"
    run_in(folder, cargo, "build", "--release", "--locked")
    return folder / "target" / "release" / "bot"


@pytest.fixture(scope="session")
def node() -> str:
    """Return the path of Node, after installing the bot's locked packages and building it."""
    folder = SAMPLES / "typescript"
    path, npm = require("node"), require("npm")
    packages = digest([folder / "package-lock.json"], folder, run_in(folder, path, "--version"))
    have(folder, "npm", packages, ["node_modules"], partial(run_in, folder, npm, "ci"))
    have(
        folder,
        "typescript",
        sources(folder, packages),
        ["dist"],
        partial(run_in, folder, npm, "run", "build"),
    )
    return path


@pytest.fixture(scope="session")
def typescript_bot(node: str) -> list[str]:
    """Return the command that starts the bot in TypeScript."""
    return [node, str(SAMPLES / "typescript" / "dist" / "src" / "main.js")]


@pytest.fixture(params=["cpp", "go", "java", "rust", "typescript"])
def language(request: pytest.FixtureRequest) -> str:
    """Return one language after another."""
    name: str = request.param
    return name


@pytest.fixture
def command(language: str, request: pytest.FixtureRequest) -> list[str]:
    """Return the command that starts the bot in the language."""
    program: Path | list[str] = request.getfixturevalue(f"{language}_bot")
    return program if isinstance(program, list) else [str(program)]


@dataclass(frozen=True)
class Certificates:
    """Files of a made-up authority, and of one certificate that it signed for this host."""

    authority: Path
    certificate: Path
    key: Path


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    folder = tmp_path_factory.mktemp("tls")
    made = Certificates(folder / "ca.pem", folder / "certificate.pem", folder / "key.pem")
    new = (require("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2")
    run_in(
        folder, *new, "-subj", "/CN=authority", "-keyout", str(folder / "ca.key"), "-out", str(made.authority)
    )
    signed = ("-CA", str(made.authority), "-CAkey", str(folder / "ca.key"))
    names = ("-subj", "/CN=referee", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    plain = ("-addext", "basicConstraints=critical,CA:FALSE")
    run_in(folder, *new, *signed, *names, *plain, "-keyout", str(made.key), "-out", str(made.certificate))
    return made
