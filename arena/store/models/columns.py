"""What all tables share: the clock, the naming of constraints, and how enums are stored."""

from datetime import UTC, datetime
from enum import StrEnum

from sqlalchemy import BigInteger, Integer, MetaData, String
from sqlalchemy import Enum as EnumType
from sqlmodel import SQLModel

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
"""Names of constraints, so that later migrations can name them on every database."""

SQLModel.metadata.naming_convention = NAMING

# Rows are neither created nor read with validation, so validators are built only if somebody asks for them.
SQLModel.model_config["defer_build"] = True


def utc_now() -> datetime:
    """Return the current time in UTC; everything outside tests uses this clock."""
    return datetime.now(UTC)


Whole = BigInteger().with_variant(Integer, "sqlite")
"""The type of whole numbers: 64 bits, which SQLite's integers always have."""

Sorted = String().with_variant(String(collation="C"), "postgresql")
"""The type of names that are looked up by how they begin: on every database they are sorted by character, and
an index of them leads to those between two others."""


def text_of(states: type[StrEnum]) -> EnumType:
    """Return a column type that stores an enum's values as plain text on every database."""
    return EnumType(
        states, native_enum=False, length=16, values_callable=lambda of: [state.value for state in of]
    )


def widen_numbers(tables: MetaData) -> None:
    """Give all whole numbers 64 bits: ids outgrow 32, and so do the sums and keys that follow from them."""
    for table in tables.tables.values():
        for column in table.columns:
            if type(column.type) is Integer:
                column.type = Whole
