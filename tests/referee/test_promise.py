"""Tests of the protos against the released ones: nothing is removed or changed; additions say since when."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto, FileDescriptorSet

PROTO = Path("proto")
BUF = Path(".venv/bin/buf").absolute()
SINCE = "Since "

Named: TypeAlias = Iterator[tuple[Any, str, tuple[int, ...]]]


def buf(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([BUF, *arguments], cwd=PROTO, capture_output=True, check=False)


def described(files: FileDescriptorSet) -> dict[str, str]:
    """Return the comments of everything named in referee.v1, by full name."""
    return {
        f"{file.package}.{name}": comment
        for file in files.file
        if file.package == "referee.v1"
        for name, comment in _names(file)
    }


def _names(file: FileDescriptorProto) -> Iterator[tuple[str, str]]:
    comments = {tuple(at.path): at.leading_comments for at in file.source_code_info.location}

    def named(things: Any, path: tuple[int, ...], prefix: str = "") -> Named:
        for index, thing in enumerate(things):
            yield thing, f"{prefix}{thing.name}", (*path, index)

    parts: list[tuple[str, tuple[int, ...]]] = []
    for message, name, path in named(file.message_type, (FileDescriptorProto.MESSAGE_TYPE_FIELD_NUMBER,)):
        parts.append((name, path))
        inside = (*path, DescriptorProto.FIELD_FIELD_NUMBER)
        parts += [(field, at) for _, field, at in named(message.field, inside, f"{name}.")]
    for enum, name, path in named(file.enum_type, (FileDescriptorProto.ENUM_TYPE_FIELD_NUMBER,)):
        parts.append((name, path))
        parts += [(value, at) for _, value, at in named(enum.value, (*path, 2), f"{name}.")]
    for service, name, path in named(file.service, (FileDescriptorProto.SERVICE_FIELD_NUMBER,)):
        parts.append((name, path))
        parts += [(method, at) for _, method, at in named(service.method, (*path, 2), f"{name}.")]
    return ((name, comments.get(path, "")) for name, path in parts)


def unmarked(released: FileDescriptorSet, present: FileDescriptorSet) -> list[str]:
    """Return what was added since the release without saying since when."""
    known = described(released)
    added = {name: comment for name, comment in described(present).items() if name not in known}
    return [name for name, comment in added.items() if SINCE not in comment]


def released() -> FileDescriptorSet:
    return FileDescriptorSet.FromString((PROTO / "released" / "v1.binpb").read_bytes())


def test_protos_when_they_differ_from_the_release_then_only_by_what_says_since_when() -> None:
    built = buf("build", "-o", "-#format=binpb")
    assert unmarked(released(), FileDescriptorSet.FromString(built.stdout)) == []
    compared = buf("breaking", "--against", "released/v1.binpb")
    assert (compared.stdout, compared.returncode) == (b"", 0)


def test_release_when_a_field_a_value_or_a_method_is_new_to_it_then_it_must_say_since_when() -> None:
    built = FileDescriptorSet.FromString(buf("build", "-o", "-#format=binpb").stdout)
    older = released()
    for file in older.file:
        if file.name == "referee/v1/bots.proto":
            del file.message_type[0].field[-1]
            del file.enum_type[0].value[-1]
            del file.service[0].method[0]
    new = ["PlayRequest.goodbye", "OnForfeit.ON_FORFEIT_END_SESSION", "BotService.Play"]
    assert unmarked(older, built) == [f"referee.v1.{name}" for name in new]
