#!/bin/sh
# Tests for the same bits on 64-bit ARM: builds hashes.c and the parts of the library that it needs
# with a cross compiler, runs it under qemu, and compares its output with that of this machine on each
# of its instruction sets. Skipped (77) if the compiler or qemu is not installed; on
# Debian: apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
#
# usage: test_neon.sh SOURCE WORK NATIVE GENERATOR SOURCES NUMERIC_SOURCES OPTIONS [LAUNCHER]
# where each of the three lists is one argument of several words, and LAUNCHER is ccache or similar.
set -eu

source=$1 work=$2 native=$3 generator=$4 sources=$5 numeric=$6 options=$7 launcher=${8:-}
steps=50
[ -z "${TAUT_TEST_QUICK:-}" ] || steps=20

list() { printf '%s' "$1" | tr ' ' ';'; } # as CMake has it
say() { printf '%s\n' "test_neon: $*"; }

cross=aarch64-linux-gnu-gcc
qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static || true)
command -v $cross >/dev/null || { say "skipped: no $cross"; exit 77; }
[ -n "$qemu" ] || { say "skipped: no qemu-aarch64"; exit 77; }
libc=$($cross -print-file-name=libc.a)
[ "$libc" != libc.a ] || { say "skipped: $cross has no C library"; exit 77; }

build_for_arm() {
    cmake -S "$source/tests/neon" -B "$work/build" -G "$generator" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_C_COMPILER=$cross \
        -DCMAKE_C_COMPILER_LAUNCHER="$launcher" -DTAUT_ROOT="$source" \
        -DTAUT_SOURCES="$(list "$sources")" -DTAUT_NUMERIC_SOURCES="$(list "$numeric")" \
        -DTAUT_COMPILE_OPTIONS="$(list "$options")" || return 1
    cmake --build "$work/build"
}

mkdir -p "$work"
build_for_arm >"$work/build.log" 2>&1 || {
    grep -E 'error|undefined' "$work/build.log" || tail -20 "$work/build.log"
    say "it does not build for ARM ($work/build.log)"
    exit 1
}

# On one processor: qemu (at least 7.2) lets a load-acquire overtake an earlier store-release, which
# no ARM processor does, and the barrier of the team then misses wake-ups. Threads that alternate on
# one processor see everything in order. If the program hangs all the same, the test fails.
processor=$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)
TAUT_ISA=base timeout 200 taskset -c "$processor" "$qemu" "$work/build/neon_hashes" $steps \
    >"$work/arm" || {
    say "the program for ARM failed"
    exit 1
}
[ -s "$work/arm" ] || { say "the program for ARM printed nothing"; exit 1; }
compared=0
for isa in base v3 v4; do
    [ "$isa" = base ] || TAUT_ISA=$isa "$native" 1 >/dev/null 2>&1 || continue
    TAUT_ISA=$isa "$native" $steps >"$work/$isa"
    diff "$work/arm" "$work/$isa" || { say "ARM (<) and $isa (>) differ"; exit 1; }
    compared=$((compared + 1))
done
say "$(wc -l <"$work/arm") hashes are those of $compared instruction sets here"
