#!/bin/sh
# Installs the build into an empty folder, moves it elsewhere, and builds and runs the example there
# as users do: with pkg-config, shared and static, and with find_package(taut).
#
# usage: test_package.sh SOURCE BUILD WORK CC CXX GENERATOR [CFLAGS]
set -eu

source=$1 build=$2 work=$3 cc=$4 cxx=$5 generator=$6 flags=${7:-}
package=$source/tests/package

report() { printf '%s\n' "test_package: $*"; }

rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/taut" # nothing in it may know where it was

find_one() {
    found=$(find "$work/taut" -name "$1")
    [ -n "$found" ] || { report "$1 was not installed"; exit 1; }
    printf '%s\n' "$found"
}
library=$(find_one libtaut.so)
libraries=$(dirname "$library")
archive=$(find_one libtaut.a)
[ "$(dirname "$archive")" = "$libraries" ] || { report "the libraries lie apart"; exit 1; }
find_one taut.h >/dev/null
PKG_CONFIG_PATH=$(dirname "$(find_one taut.pc)")
export PKG_CONFIG_PATH

# The shared library exports everything that taut.h declares, and nothing else.
nm -D --defined-only "$library" | awk '$2 ~ /[A-Z]/ && $2 != "A" {print $3}' | sort >"$work/shown"
sed -n 's/^TAUT_API .*[ *]\(taut_[a-z_]*\)(.*/\1/p' "$source/src/taut.h" | sort >"$work/declared"
[ -s "$work/declared" ] || { report "no declaration found in taut.h"; exit 1; }
diff "$work/declared" "$work/shown" >"$work/difference" || {
    report "declared in taut.h (<) and shown by libtaut.so (>) differ:"
    cat "$work/difference"
    exit 1
}

# The header by itself, as strict C and as C++.
include=$(dirname "$(find_one taut.h)")
printf '#include <taut.h>\n' >"$work/header.c"
"$cc" -std=c99 -pedantic -Wall -Wextra -Werror -fsyntax-only -I "$include" "$work/header.c"
"$cxx" -x c++ -std=c++11 -pedantic -Wall -Wextra -Werror -fsyntax-only -I "$include" "$work/header.c"

# pkg-config. The flags are lists of words.
# shellcheck disable=SC2046,SC2086
"$cc" $flags -o "$work/by_pkg_config" "$package/example.c" $(pkg-config --cflags --libs taut) -lm
LD_LIBRARY_PATH=$libraries "$work/by_pkg_config"

# The examples, in the same way.
for example in "$source"/examples/*.c; do
    # shellcheck disable=SC2046,SC2086
    "$cc" $flags -Wall -Wextra -Werror -o "$work/example" "$example" \
        $(pkg-config --cflags --libs taut) -lm
    LD_LIBRARY_PATH=$libraries "$work/example" >"$work/example.log" || {
        cat "$work/example.log"
        report "$example failed"
        exit 1
    }
done

mkdir "$work/static"
cp "$archive" "$work/static" # a folder without the shared one, so that -ltaut means the archive
# shellcheck disable=SC2046,SC2086
"$cc" $flags -o "$work/by_pkg_config_static" "$package/example.c" -L"$work/static" \
    $(pkg-config --cflags --libs --static taut)
if ldd "$work/by_pkg_config_static" | grep libtaut; then
    report "the static example needs the shared library"
    exit 1
fi
"$work/by_pkg_config_static"

# find_package
cmake -G "$generator" -S "$package" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$work/taut" \
    -DCMAKE_C_COMPILER="$cc" -DCMAKE_C_FLAGS="$flags" >"$work/configure.log"
cmake --build "$work/cmake" >"$work/build.log" || { cat "$work/build.log"; exit 1; }
"$work/cmake/example_shared"
"$work/cmake/example_static"

# The program, and the scenes that come with it.
"$work/taut/bin/taut" --version
"$work/taut/bin/taut" check "$work/taut/share/taut/scenes/flag.yaml"

# Its tools are found in the new location.
if /usr/bin/python3 -c 'import matplotlib' 2>/dev/null; then
    (cd "$work" && "$work/taut/bin/taut" stability "$work/taut/share/taut/scenes/oscillators.yaml" \
        --integrators verlet --map none --budget 2 --quiet --output study)
    [ -s "$work/study/report.html" ] || { report "there is no report"; exit 1; }
fi
[ -z "$(find "$work/taut" -name __pycache__)" ] || { report "the tools have left something"; exit 1; }
report "all four ways work"
