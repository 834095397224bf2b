"""What all objects have in common that are sent to the API."""

from pydantic import BaseModel, ConfigDict


class Sent(BaseModel):
    """What is sent: no other keys than these."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)
