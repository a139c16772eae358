"""What the sections of a GPU's preset have in common."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Positive = Annotated[int, Field(gt=0)]
Count = Annotated[int, Field(ge=0)]


class Section(BaseModel):
    """A table of the preset: immutable, and an unknown name is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def needs(default: str = "nothing", **fields: str) -> ConfigDict:
    """Return a `model_config` that names, for each field of a section, the need (a key of `NEEDS`) a run must meet to read it.

    fields: for each need, the fields that have it instead of the default, separated by spaces.
    """
    of: dict[str, Any] = {"": default} | {name: need for need, names in fields.items() for name in names.split()}
    return ConfigDict(json_schema_extra={"needs": of})
