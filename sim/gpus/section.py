"""What the sections of a GPU's preset have in common."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Positive = Annotated[int, Field(gt=0)]
Count = Annotated[int, Field(ge=0)]


class Section(BaseModel):
    """A table of the preset: immutable, and an unknown name is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def needs(default: str = "nothing", **fields: str) -> ConfigDict:
    """Return what says of a section which need of `sim.lowering.needs` a run must meet to read each of its fields.

    fields: by need, the names of fields that need another than the default, apart by blanks.
    """
    of: dict[str, Any] = {"": default} | {name: need for need, names in fields.items() for name in names.split()}
    return ConfigDict(json_schema_extra={"needs": of})
