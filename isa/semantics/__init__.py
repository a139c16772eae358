"""What one lane computes: scalar functions `op(a, b, c) -> value` on 32-bit words (uint32) and floats.

Plain Python over NumPy scalars, so that they run as they stand and Numba can compile them (`sim/compiled/kernel.py` makes every
public function here callable from kernels); both give identical bits. A NaN result is 0x7FFFFFFF (CUDA C++ Programming Guide,
floating-point standard: payloads are not preserved).
"""
