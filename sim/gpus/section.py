"""What the sections of a GPU's preset have in common."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Positive = Annotated[int, Field(gt=0)]
Count = Annotated[int, Field(ge=0)]


class Section(BaseModel):
    """A table of the preset: immutable, and an unknown name is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
