"""A compiler of functions that exist only within kernels: their LLVM code is linked into the kernel, which alone becomes machine code.

Numba's own compiler optimises each function, with all that it calls, and generates machine code for it, at every level of calls:
more than half of that time goes into code that nothing ever runs. This rests on classes of Numba that it does not document; where they
are missing sim.kernel does without, and everything only takes longer to compile.
"""

from typing import Any

from numba._dynfunc import make_function
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

SMALL = 70_000  # bytes of bitcode; chosen by measurement: unless these are optimised first, the executor is 8 % slower


class Part(JITCodeLibrary):
    """The LLVM code of one function, with what it calls, for others to link in."""

    def _optimize_final_module(self) -> None:
        if len(self._final_module.as_bitcode()) < SMALL:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


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


class PartCompiler(CompilerBase):
    """Numba's compiler with the lowering above."""

    def define_pipelines(self) -> list[Any]:
        """Return the passes."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        kept = passes.passes
        passes = type(passes)(passes.pipeline_name)
        for kind, description in kept:
            passes.add_pass(PartLowering if kind is NativeLowering else kind, description)
        passes.finalize()
        return [passes]
