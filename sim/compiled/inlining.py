"""A compiler of functions that exist only within kernels: their LLVM code is linked into the kernel, which alone becomes machine code.

Numba's own compiler optimises each function, with all that it calls, twice, and generates machine code for it, at every level of calls:
more than half of that time goes into code that nothing ever runs. And it hands a named tuple on as its fields, one machine word
each, some 200 at every call. This rests on classes of Numba that it does not document; where they are missing sim.compiled.kernel does
without, and everything only takes longer to compile.
"""

from typing import Any

from numba._dynfunc import make_function
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.datamodel.models import TupleModel
from numba.core.datamodel.registry import default_manager
from numba.core.typed_passes import NativeLowering

SMALL = 70_000  # bytes of bitcode; chosen by measurement: unless these are optimised first, the executor is 8 % slower


class WholeTuple(TupleModel):
    """How a named tuple of simtlab is handed to a function: as one value, which inlining takes apart, and not field by field."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind)
        self.whole = kind.instance_class.__module__.startswith("sim.")

    def get_argument_type(self) -> Any:
        """Return the LLVM types of the argument."""
        return self.get_value_type() if self.whole else super().get_argument_type()

    def as_argument(self, builder: Any, value: Any) -> Any:
        """Return the argument for a value, at a call."""
        return value if self.whole else super().as_argument(builder, value)

    def from_argument(self, builder: Any, value: Any) -> Any:
        """Return the value of an argument, in the function."""
        return value if self.whole else super().from_argument(builder, value)


default_manager.register(types.NamedTuple, WholeTuple)


class Library(JITCodeLibrary):
    """The code of one kernel, optimised once: Numba's first round is for reference counts, which there are none of."""

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class Part(Library):
    """The LLVM code of one function, with what it calls, for others to link in."""

    def _optimize_final_module(self) -> None:
        if len(self._final_module.as_bitcode()) < SMALL:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(NativeLowering):
    """Lower a kernel to machine code, as Numba does, in a library of ours."""

    _name = "kernel_lowering"

    def run_pass(self, state: Any) -> bool:
        """Do Numba's pass of the same work."""
        state.library = Library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class PartLowering(NativeLowering):
    """Lower a function to LLVM code and make it known to its callers; there is no entry for Python."""

    _name = "part_lowering"

    def run_pass(self, state: Any) -> bool:
        """Replace Numba's pass of the same work, which ends with machine code."""
        state.library = Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags = state.flags.copy()
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
        key = make_function(lowered.fndesc.lookup_module(), lowered.fndesc.qualname, "", 0, lowered.env, (state.library,))
        state.targetctx.insert_user_function(key, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=key)
        return True


class KernelCompiler(CompilerBase):
    """Numba's compiler with the lowering of kernels."""

    lowering: Any = KernelLowering

    def define_pipelines(self) -> list[Any]:
        """Return the passes."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        kept = passes.passes
        passes = type(passes)(passes.pipeline_name)
        for kind, description in kept:
            passes.add_pass(self.lowering if kind is NativeLowering else kind, description)
        passes.finalize()
        return [passes]


class PartCompiler(KernelCompiler):
    """Numba's compiler with the lowering of parts."""

    lowering = PartLowering
