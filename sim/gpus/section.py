"""What the sections of a GPU's preset have in common."""

import functools
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

NUMBER = "number_expected"  # what is wrong with text in place of a number
Positive = Annotated[int, Field(gt=0)]
Count = Annotated[int, Field(ge=0)]


class Table(BaseModel):
    """A table of the preset without numbers: immutable, and an unknown name is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Section(Table):
    """One with numbers: text in their place is a mistake, too."""

    @field_validator("*", mode="before")
    @classmethod
    def _not_in_quotes(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse "12" for 12, which pydantic takes, and true for 1."""
        if isinstance(value, str | bool) and info.field_name in _numbers(cls):
            raise PydanticCustomError(NUMBER, "not a number")
        return value


@functools.cache
def _numbers(section: type[Section]) -> frozenset[str]:
    """Return the fields of a section that are numbers."""
    return frozenset(name for name, field in section.model_fields.items() if _is_number(field.annotation))


def _is_number(annotation: Any) -> bool:
    """Return whether a field is a number, or none."""
    if get_origin(annotation) in (Annotated, Union, UnionType):
        return any(_is_number(one) for one in get_args(annotation)[: 1 if get_origin(annotation) is Annotated else None])
    return annotation in (int, float)


def needs(default: str = "nothing", **fields: str) -> ConfigDict:
    """Return a `model_config` that names, for each field of a section, the need (a key of `NEEDS`) a run must meet to read it.

    fields: for each need, the fields that have it instead of the default, separated by spaces.
    """
    of: dict[str, Any] = {"": default} | {name: need for need, names in fields.items() for name in names.split()}
    return ConfigDict(json_schema_extra={"needs": of})
