"""A compiler of functions that exist only within kernels: their LLVM code is linked into the kernel, which alone becomes machine code.

Numba's own compiler optimises each function, with all that it calls, twice, and generates machine code for it, at every level of calls:
more than half of that time goes into code that nothing ever runs. This rests on classes of Numba that it does not document; where they
are missing sim.compiled.kernel does without, and everything only takes longer to compile.
"""

import hashlib
from typing import Any

from llvmlite import ir
from numba._dynfunc import make_function
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

from sim.compiled.tuples import keep_apart

ENTRY = "cfunc."  # how its name begins
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


class ApartLibrary(Library):
    """The code of a part of kernels, in one function that is called as in C: to call it takes one call, not two."""

    def add_ir_module(self, ir_module: Any) -> None:
        """Take in LLVM code: of the part, which is to be inlined (`forceinline`), then of the entry."""
        for function in ir_module.functions:
            if function.name.startswith(ENTRY):
                for call in (one for block in function.blocks for one in block.instructions if isinstance(one, ir.CallInstr)):
                    call.attributes.discard("noinline")
        super().add_ir_module(ir_module)

    def _optimize_final_module(self) -> None:
        """Keep all but the entry to itself, under names of its own: LLVM gives such functions ways to be called that others do not know."""
        defined = [function for function in self._final_module.functions if not function.is_declaration]
        entry = next(function.name for function in defined if function.name.startswith(ENTRY))
        for function in defined:
            if function.name != entry:
                function.linkage = "internal"
                function.name += f".{hashlib.sha256(entry.encode()).hexdigest()[:16]}"
        super()._optimize_final_module()


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
    library: Any = KernelLibrary

    def run_pass(self, state: Any) -> bool:
        """Do Numba's pass of the same work."""
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class ApartLowering(KernelLowering):
    """Lower a part of kernels that they call by its address: the tuples that it gets are theirs."""

    _name = "apart_lowering"
    library = ApartLibrary


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


class ApartCompiler(KernelCompiler):
    """Numba's compiler with the lowering of what kernels call by its address."""

    lowering = ApartLowering


class PartCompiler(KernelCompiler):
    """Numba's compiler with the lowering of parts."""

    lowering = PartLowering
