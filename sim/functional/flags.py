"""The flags of `isa.vocabulary` as plain numbers: Numba knows IntEnum, but not IntFlag."""

from isa.vocabulary import Flag, SourceFlag

X = int(Flag.X)
CC = int(Flag.CC)
FTZ = int(Flag.FTZ)
SATURATE = int(Flag.SATURATE)
SIGNED = int(Flag.SIGNED)
HIGH = int(Flag.HIGH)
WIDE = int(Flag.WIDE)
LEFT = int(Flag.LEFT)
WRAP = int(Flag.WRAP)
ADDRESS64 = int(Flag.ADDRESS64)
EXTENDED = int(Flag.EXTENDED)
HALF64 = int(Flag.HALF64)
FLOAT = int(Flag.FLOAT)
PAIRED = int(Flag.PAIRED)
INDEX64 = int(Flag.INDEX64)
JOIN = int(Flag.JOIN)
CLEAR = int(Flag.CLEAR)
NEGATE = int(SourceFlag.NEGATE)
ABSOLUTE = int(SourceFlag.ABSOLUTE)
INVERT = int(SourceFlag.INVERT)
