"""How named tuples of simtlab are handed to functions: large ones by address, small ones as one value.

Numba hands a tuple on field by field and keeps it field by field in every function: the arrays of a kernel are a thousand machine words,
which each of several hundred functions took apart and put together again, and which LLVM then looked through. By address a function says
which fields it reads, and nothing of the others.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.boxing import unbox_tuple
from numba.core.datamodel.models import TupleModel
from numba.core.datamodel.registry import default_manager
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
from numba.core.pythonapi import NativeValue, unbox

SMALL = 7  # fields; kernels make such tuples themselves, larger ones are only given to them
BYTE, WORD = ir.IntType(8), ir.IntType(64)


class Fields(ir.LiteralStructType):
    """The fields of a large tuple in memory."""


class NamedTuple(TupleModel):
    """A tuple for LLVM: the address of its fields, which nobody writes while a kernel runs, or a value, which inlining takes apart."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind)
        self.is_ours = kind.instance_class.__module__.startswith("sim.")
        self.is_large = self.is_ours and len(kind.types) > SMALL
        self.kinds = [model.fields if is_large(model) else model.get_value_type() for model in self._models]
        self.fields = Fields(self.kinds)
        self.offsets: dict[int, int] = {}  # by field, bytes

    def get_value_type(self) -> Any:
        """Return the LLVM type of the tuple."""
        return self.fields.as_pointer() if self.is_large else super().get_value_type()

    def get_argument_type(self) -> Any:
        """Return the LLVM types of the argument."""
        return self.get_value_type() if self.is_ours else super().get_argument_type()

    def as_argument(self, builder: Any, value: Any) -> Any:
        """Return the argument for a value, at a call."""
        return value if self.is_ours else super().as_argument(builder, value)

    def from_argument(self, builder: Any, value: Any) -> Any:
        """Return the value of an argument, in the function."""
        return value if self.is_ours else super().from_argument(builder, value)

    def place(self, context: Any, builder: Any, address: Any, field: int) -> Any:
        """Return the address of a field, in bytes: to name its type takes a screenful each time."""
        if field not in self.offsets:
            self.offsets[field] = self.fields.get_element_offset(context.target_data, field)
        at = builder.gep(builder.bitcast(address, BYTE.as_pointer()), [WORD(self.offsets[field])], inbounds=True)
        return builder.bitcast(at, self.kinds[field].as_pointer())


default_manager.register(types.NamedTuple, NamedTuple)


def keep_apart(function: Any) -> None:
    """Let a kernel have its large tuples in its own frame, where no register is needed to find them; its caller must not inline it.

    Merged with the code that writes the tuples, loads that are marked as of constant memory could move ahead of it.
    """
    function.attributes.discard("alwaysinline")
    function.attributes.add("noinline")
    for argument in function.args:
        if isinstance(argument.type, ir.PointerType) and isinstance(argument.type.pointee, Fields):
            argument.add_attribute("byval")


def is_large(model: Any) -> bool:
    """Return whether what a model is of is handed on by address."""
    return isinstance(model, NamedTuple) and model.is_large


@lower_getattr_generic(types.NamedTuple)
def _field(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    """Read a field; LLVM hears that what it reads is never written, and may read it once for many."""
    model, field = context.data_model_manager[kind], kind.fields.index(name)
    if not model.is_large:
        found = builder.extract_value(value, field)
    elif is_large(model._models[field]):
        found = model.place(context, builder, value, field)
    else:
        found = builder.load(model.place(context, builder, value, field))
        found.set_metadata("tbaa", _constant(builder.module))
    return impl_ret_borrowed(context, builder, kind.types[field], found)


def _constant(module: Any) -> Any:
    """Return LLVM's mark of memory that is not written."""
    kind = module.add_metadata([ir.MetaDataString(module, "given"), module.add_metadata([ir.MetaDataString(module, "simtlab")]), WORD(0)])
    return module.add_metadata([kind, kind, WORD(0), WORD(1)])


@unbox(types.NamedTuple)
def _unboxed(kind: Any, given: Any, c: Any) -> Any:
    """Lay the fields of a large tuple out in the frame of the function that Python calls."""
    model = c.context.data_model_manager[kind]
    if not model.is_large:
        return unbox_tuple(kind, given, c)
    address, failed = cgutils.alloca_once(c.builder, model.fields), cgutils.alloca_once_value(c.builder, cgutils.false_bit)
    cleanups: list[Any] = []
    _fill(kind, given, address, failed, cleanups, c)

    def clean() -> None:
        for one in reversed(cleanups):
            one()

    return NativeValue(address, cleanup=clean if cleanups else None, is_error=c.builder.load(failed))


def _fill(kind: Any, given: Any, address: Any, failed: Any, cleanups: list[Any], c: Any) -> None:
    """Write the fields of a large tuple, those of large tuples within it in their place."""
    model = c.context.data_model_manager[kind]
    for field, one in enumerate(kind.types):
        value, place = c.pyapi.tuple_getitem(given, field), model.place(c.context, c.builder, address, field)
        if is_large(model._models[field]):
            _fill(one, value, place, failed, cleanups, c)
            continue
        function = _unboxer(one, c)
        if function is None:
            native = c.unbox(one, value)
            c.builder.store(native.value, place)
            wrong = native.is_error
            cleanups += [native.cleanup] if native.cleanup else []
        else:
            wrong = c.builder.call(function, [value, place])
        with c.builder.if_then(wrong, likely=False):
            c.builder.store(cgutils.true_bit, failed)


def _unboxer(kind: Any, c: Any) -> Any:
    """Return the function of this module that writes a field of a type and says whether it failed; None for one that holds on to something.

    Inline, the fields of a kernel's tuples take a tenth of its code.
    """
    name, module = f"unbox.{kind}", c.builder.module
    if name not in module.globals:
        given = [c.pyapi.pyobj, c.context.get_value_type(kind).as_pointer()]
        function = ir.Function(module, ir.FunctionType(ir.IntType(1), given), name)
        function.linkage = "internal"
        builder = ir.IRBuilder(function.append_basic_block())
        native = type(c)(c.context, builder, c.context.get_python_api(builder)).unbox(kind, function.args[0])
        assert native.cleanup is None, kind
        builder.store(native.value, function.args[1])
        builder.ret(native.is_error)
    return module.globals[name]
