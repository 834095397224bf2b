"""The base of all objects that are sent to the API."""

from pydantic import BaseModel, ConfigDict

from referee.docstrings import tell_fields


class Sent(BaseModel):
    """What is sent: no other keys than these."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=tell_fields)
