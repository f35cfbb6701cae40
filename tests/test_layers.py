#!/usr/bin/python3
"""Checks which folders of src/ include which (docs/architecture.md).

A folder of the data's way includes only taut.h, base/, parallel/, simd/ and folders to its left;
only src/solver*.[ch], src/api.c (the functions of taut.h) and cli/ see everything. Beside the way
stand two pairs that use solvers: study/ and report/, which draws studies; and picture/, play/, which
runs a solver on a thread of its own, and view/, the window: each sees the way, solver.h and those of its
own group that stand before it. The checker proves on made-up violations that it would find one.
"""
import os
import re
import sys

WAY = ["scene", "topology", "plan", "state", "kernels", "forces", "integrate", "stability", "output"]
BASES = {"base": {"base"}, "parallel": {"base", "parallel"}, "simd": {"base", "simd"}}
# Folders that run solvers, and what each sees of its own group.
USERS = {"study": {"study"}, "report": {"study", "report"},
         "picture": {"picture"}, "play": {"picture", "play"}, "view": {"picture", "play", "view"}}
SOLVER_HEADERS = {"study": {"solver.h"}, "picture": {"solver.h"}, "play": {"solver.h", "solver_live.h",
                                                                          "solver_memory.h"},
                  "view": {"solver.h"}}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)


def allowed_folders(path):
    """The folders that the file at `path` (relative to src/) may include; None: all of them."""
    folder, _, rest = path.partition("/")
    if not rest:
        # taut.h is what others include: it includes nothing of ours. solver and api are the top.
        return None if re.fullmatch(r"solver\w*\.[ch]|api\.c", path) else set()
    if folder == "cli":
        return None
    if folder in BASES:
        return BASES[folder]
    if folder in USERS:
        return set(BASES) | set(WAY) | USERS[folder]
    if folder in WAY:
        return set(BASES) | set(WAY[:WAY.index(folder) + 1])
    raise ValueError(f"{path}: src/{folder}/ has no place in the order; give it one in {__file__}")


def violations(path, text, exists):
    """Sentences about what is wrong with the includes of one file."""
    found = []
    try:
        allowed = allowed_folders(path)
    except ValueError as error:
        return [str(error)]
    for name in INCLUDE.findall(text):
        if name == "version_info.h" and path.startswith("cli/"):
            continue  # generated into the build folder, for the command line alone
        folder = name.partition("/")[0] if "/" in name else None
        if ".." in name.split("/") or not exists(name):
            found.append(f'{path}: "{name}" is no file of src/ (write the path from src/)')
        elif folder is None:
            user = path.partition("/")[0]
            if (name != "taut.h" and allowed is not None
                    and name not in SOLVER_HEADERS.get(user, ())):
                found.append(f'{path}: may not include "{name}"')
        elif allowed is not None and folder not in allowed:
            found.append(f'{path}: may not include "{name}"')
    return found


# path, text, whether it is a violation; every file that is named here is taken to exist.
PROOF = [
    ("scene/a.c", '#include "base/memory.h"\n#include "taut.h"\n#include <yaml.h>', False),
    ("scene/a.c", '#include "topology/topology.h"', True),
    ("forces/a.c", '#include "kernels/kernels.h"', False),
    ("forces/a.c", '#if 1\n#  include "integrate/integrate.h"\n#endif', True),
    ("forces/a.c", '#include "solver.h"', True),
    ("forces/a.c", '#include "../base/memory.h"', True),
    ("base/a.c", '#include "parallel/team.h"', True),
    ("parallel/a.c", '#include "base/memory.h"', False),
    ("parallel/a.c", '#include "simd/wide.h"', True),
    ("simd/a.h", '#include "scene/scene.h"', True),
    ("output/a.c", '#include "scene/scene.h"', False),
    ("output/a.c", '#include "cli/main.h"', True),
    ("cli/a.c", '#include "output/recording.h"\n#include "version_info.h"', False),
    ("study/a.c", '#include "solver.h"\n#include "stability/limits.h"', False),
    ("study/a.c", '#include "cli/main.h"', True),
    ("study/a.c", '#include "report/report.h"', True),
    ("report/a.c", '#include "study/study.h"\n#include "output/file.h"', False),
    ("report/a.c", '#include "cli/main.h"', True),
    ("output/a.c", '#include "study/study.h"', True),
    ("picture/a.c", '#include "solver.h"\n#include "output/file.h"', False),
    ("picture/a.c", '#include "play/player.h"', True),
    ("play/a.c", '#include "picture/subject.h"\n#include "solver_live.h"', False),
    ("play/a.c", '#include "view/window.h"', True),
    ("view/a.c", '#include "play/player.h"\n#include "picture/renderer.h"', False),
    ("view/a.c", '#include "study/study.h"', True),
    ("api.c", '#include "solver.h"', False),
    ("solver.c", '#include "output/recording.h"', False),
    ("solver_energy.h", '#include "integrate/integrate.h"', False),
    ("taut.h", '#include "base/memory.h"', True),
    ("other.c", '#include "scene/scene.h"', True),
    ("misc/a.c", "", True),
]


def prove():
    wrong = [case for case in PROOF
             if bool(violations(case[0], case[1], lambda name: True)) != case[2]]
    for path, text, bad in wrong:
        print(f"the checker {'misses' if bad else 'invents'} a violation in {path}: {text}")
    if not violations("scene/a.c", '#include "scene/absent.h"', lambda name: False):
        print("the checker misses an include of a file that is not there")
        return False
    return not wrong


def main():
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src")
    if not prove():
        return 1
    files, found = 0, []
    for folder, _, names in os.walk(source):
        for name in sorted(names):
            if not name.endswith((".c", ".h")):
                continue
            files += 1
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                found += violations(os.path.relpath(path, source), file.read(),
                                    lambda name: os.path.exists(os.path.join(source, name)))
    for sentence in found:
        print(sentence)
    print(f"{files} files, {len(found)} violations")
    return 1 if found or files == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
