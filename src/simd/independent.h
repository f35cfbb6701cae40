// Before a plain loop whose iterations are independent, which compilers cannot see where it has
// many arrays: it is vectorised, with the same bits.
#ifndef TAUT_SIMD_INDEPENDENT_H
#define TAUT_SIMD_INDEPENDENT_H

#ifdef __clang__
#    define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#    define INDEPENDENT _Pragma("GCC ivdep")
#endif

#endif
