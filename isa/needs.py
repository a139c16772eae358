"""What a launch must know of a function beside its code: from a cubin, from what the text says, or from the code alone."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from isa.architecture import number
from isa.sass import elf, resources, sections
from isa.sass.function import RawFunction
from isa.sass.resources import Resources

CUBIN = ".cubin"


def of(function: RawFunction, functions: Sequence[RawFunction], text: str, path: str = "") -> Resources:
    """Return the resources of a function of a disassembly. Raises UserError for a damaged cubin or text.

    The first of these that knows the function: the cubin `path`, or the one beside it of the same name; `.nv.info` sections of
    full nvdisasm text; the lines of `cuobjdump -res-usage`; the code alone.
    """
    if path and (compiled := Path(path).with_suffix(CUBIN)).is_file():
        for found in resources.of_image(elf.read(compiled), function.name):
            if number(found.architecture) == number(function.architecture):  # ELF knows no sm_90a
                return found
    if ".nv.info" in text:
        for found in resources.of_image(sections.parse(text, functions, path), function.name):
            return found
    usage = resources.of_usage(text).get(function.name)
    alone = resources.of_function(function)
    return dataclasses.replace(alone, registers=usage.registers, shared_bytes=usage.shared_bytes) if usage else alone
