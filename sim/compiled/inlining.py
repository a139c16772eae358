"""A compiler of functions that exist only within kernels: their LLVM code is linked into the kernel, which alone becomes machine code.

Numba's own compiler optimises each function, with all that it calls, twice, and generates machine code for it, at every level of calls:
more than half of that time goes into code that nothing ever runs. This rests on classes of Numba that it does not document; where they
are missing sim.compiled.kernel does without, and everything only takes longer to compile.
"""

from typing import Any

from numba._dynfunc import make_function
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

from sim.compiled.tuples import keep_apart

SMALL = 40_000  # bytes of bitcode; by measurement: the engine is up to a fifth slower with 25,000 or 70,000, the executor with none


class Library(JITCodeLibrary):
    """The code of one kernel, optimised once: Numba's first round is for reference counts, which there are none of."""

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class KernelLibrary(Library):
    """The code of one kernel."""

    def add_ir_module(self, ir_module: Any) -> None:
        """Take in LLVM code: of the kernel, then of its entry, which writes the tuples that the kernel takes for constant."""
        for function in ir_module.functions:
            if not function.is_declaration:
                keep_apart(function)
        super().add_ir_module(ir_module)


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
        state.library = KernelLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
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
