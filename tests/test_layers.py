#!/usr/bin/python3
"""Checks which folders of src/ include which (docs/architecture.md).

A folder of the data flow includes only taut.h, base/, parallel/, ranks/, simd/ and folders to its
left.
intersections/, the oracle of contact, is included by cli/ alone.
springs/ and faces/ occur in it twice: their plans (files named plan*, made before the state whose
arrays they order) to the left of state/, and everything else to its right. So does kernels/:
kernels.h, which kernels of several modules share, to the left of those modules, and the tables,
which compile the kernels of all of them, to their right. The files of a run are at the end, after
the solver, which does not depend on them. Two groups of folders use solvers: study/, which writes
no files; and picture/, play/, which runs a solver on a thread of its own, and view/, the window.
Each may include the folders of the data flow and those of its own group before it; cli/ may include
all folders.
Most modules have one public header, and others include nothing else of them (PUBLIC has the few
that have more, with the reason in docs/architecture.md); only the kernel tables may include
kernels. Tests and benchmarks of single stages include solver/internals.h too. No code outside
solver/ uses the table of the numeric part of a solver; tests/ and bench/ are searched for it as
well. Only springs/ and faces/ read the members of a plan; all other folders call the functions of
springs/plan.h, springs.h and faces.h. The checker is itself tested on made-up violations.
"""
import os
import re
import sys

ORDER = ["scene", "topology", "plan", "state", "kernels", "springs", "faces", "elements", "contact",
         "forces", "table", "integrate", "stability", "solver", "output"]
PLANNED = re.compile(r"(springs|faces)/(?:\w+/)?plan\w*\.[ch]")
# Used by nothing but cli/: the oracle of contact shares no code with it.
ORACLES = {"intersections": {"base", "parallel", "intersections"}}
BASES = {"base": {"base"}, "parallel": {"base", "parallel"}, "simd": {"base", "simd"},
         "ranks": {"base", "ranks"}}
# Folders that run solvers, and the folders of its own group that each may include.
USERS = {"study": {"study"}, "picture": {"output", "picture"}, "play": {"output", "picture", "play"},
         "view": {"output", "picture", "play", "view"}}
SOLVER_HEADER = "solver/solver.h"
# The headers of a module that other modules may include. In modules that are not listed (base/,
# parallel/, simd/, scene/, state/, output/, picture/) each header is a subject of its own.
PUBLIC = {
    "topology": {"topology.h", "cut.h", "reorder.h"},
    "kernels": {"kernels.h"},
    "ranks": {"ranks.h"},
    "springs": {"springs.h", "tangent.h", "plan.h", "plan_parts.h", "exchange.h", "part_sums.h",
                "part_springs.h", "shares.h"},
    "faces": {"faces.h", "tangent.h", "plan.h"},
    "elements": {"elements.h", "parts.h"},
    "contact": {"contact.h", "tangent.h", "constraints.h", "friction.h", "surface_contact.h",
                "surface_report.h"},
    "forces": {"forces.h", "tangent.h"},
    "integrate": {"integrate.h", "implicit.h", "constraints.h", "mouse_spring.h"},
    "stability": {"critical_step.h", "divergence.h", "hessenberg.h", "limits.h"},
    "solver": {"solver.h"},
    "intersections": {"intersections.h"},
    "study": {"study.h"},
    "play": {"player.h"},
    "view": {"view.h"},
}
# The dispatch of the numeric part is private to solver/; neon/ compiles that part without a solver.
DISPATCH = re.compile(r"\bfunctions->")
# The members of a plan that is in a struct, and of variables declared as a plan.
PLAN_MEMBER = re.compile(r"(?:->|\.)plan->|\bsolver_plan\(\w*\)->")
PLAN_VARIABLE = re.compile(r"\bstruct plan \*?(?:const )?(\w+)\s*[,;=)]")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)


def position(path):
    """The name, in the order, of the folder of a file (relative to src/)."""
    folder = path.partition("/")[0]
    if PLANNED.fullmatch(path):
        return "plan"
    return "table" if folder == "kernels" and path != "kernels/kernels.h" else folder


def allowed_folders(path):
    """The positions that the file at `path` (relative to src/) may include; None: all of them."""
    folder, _, rest = path.partition("/")
    folder = position(path) if rest else folder
    if not rest:
        return set()  # taut.h is included by others, and includes nothing of the project
    if folder == "cli":
        return None
    if folder in BASES:
        return BASES[folder]
    if folder in ORACLES:
        return ORACLES[folder]
    if folder in USERS:
        return set(BASES) | set(ORDER) - {"output"} | USERS[folder]
    if folder in ORDER:
        return set(BASES) | set(ORDER[:ORDER.index(folder) + 1])
    raise ValueError(f"{path}: src/{folder}/ has no place in the order; give it one in {__file__}")


def is_private(path, name):
    """Whether a file includes a private header of another module."""
    module, _, header = name.partition("/")
    if path.partition("/")[0] == module or position(path) == "table":
        return False
    return header not in PUBLIC.get(module, {header})


def reads_plan(text):
    """Whether a file reads a member of a struct plan."""
    names = "|".join(sorted(set(PLAN_VARIABLE.findall(text))))
    return bool(PLAN_MEMBER.search(text) or
                (names and re.search(rf"(?<![>.\w])(?:{names})(?:->|\.(?!h\b))\w", text)))


def violations(path, text, exists):
    """Sentences that describe the invalid includes of a file."""
    found = []
    try:
        allowed = allowed_folders(path)
    except ValueError as error:
        return [str(error)]
    for name in INCLUDE.findall(text):
        if name == "version_info.h" and path.startswith("cli/"):
            continue  # generated into the build folder, for the command line only
        folder = position(name) if "/" in name else None
        if ".." in name.split("/") or not exists(name):
            found.append(f'{path}: "{name}" is no file of src/ (write the path from src/)')
        elif folder is None:
            if name != "taut.h":
                found.append(f'{path}: may not include "{name}"')
        elif is_private(path, name):
            headers = ", ".join(sorted(PUBLIC[name.partition("/")[0]]))
            found.append(f'{path}: may not include "{name}", only {headers} of that module')
        elif allowed is not None and folder not in allowed:
            found.append(f'{path}: may not include "{name}"')
    if DISPATCH.search(text) and not path.startswith("solver/"):
        found.append(f"{path}: only solver/ calls the numeric part of a solver; use {SOLVER_HEADER}")
    if path.partition("/")[0] not in ("springs", "faces") and reads_plan(text):
        found.append(f"{path}: only springs/ and faces/ read the members of a plan; use springs/plan.h")
    return found


def outside_violations(path, text):
    """The same for a file of tests/ or bench/, for which only access to the solver is checked."""
    found = []
    for name in INCLUDE.findall(text):
        if name in ("solver/private.h", "solver/system.h", "solver/checkpoint.h"):
            found.append(f'{path}: may not include "{name}"')
    if DISPATCH.search(text):
        found.append(f"{path}: only solver/ calls the numeric part of a solver; use {SOLVER_HEADER}")
    return found


# path, text, whether it is a violation; all files named here are assumed to exist.
PROOF = [
    ("scene/a.c", '#include "base/memory.h"\n#include "taut.h"\n#include <yaml.h>', False),
    ("scene/a.c", '#include "topology/topology.h"', True),
    ("forces/a.c", '#include "kernels/kernels.h"', False),
    ("kernels/kernels.h", '#include "springs/grid/sweep.h"', True),
    ("kernels/table.h", '#include "springs/grid/force_body.h"\n#include "contact/near_body.h"', False),
    ("springs/grid/a.c", '#include "kernels/kernels.h"\n#include "springs/law.h"', False),
    ("springs/a.c", '#include "faces/faces.h"', True),
    ("springs/a.c", '#include "kernels/table.h"', True),
    ("faces/a.c", '#include "springs/springs.h"\n#include "springs/tangent.h"', False),
    ("faces/a.c", '#include "springs/listed/reference.h"', True),
    ("faces/a.c", '#include "contact/contact.h"', True),
    ("contact/a.c", '#include "forces/forces.h"', True),
    ("forces/a.c", '#include "faces/faces.h"\n#include "contact/tangent.h"', False),
    ("stability/a.c", '#include "springs/grid/plan.h"', True),
    ("cli/a.c", '#include "play/requests.h"', True),
    ("forces/a.c", '#if 1\n#  include "integrate/integrate.h"\n#endif', True),
    ("forces/a.c", '#include "solver/solver.h"', True),
    ("forces/a.c", '#include "../base/memory.h"', True),
    ("state/a.c", '#include "springs/plan.h"\n#include "faces/plan.h"', False),
    ("state/a.c", '#include "springs/grid/plan.h"', True),
    ("state/a.c", '#include "springs/grid/sweep.h"', True),
    ("springs/grid/plan.c", '#include "springs/packed/plan.h"\n#include "faces/plan.h"', False),
    ("springs/grid/plan.c", '#include "state/state.h"', True),
    ("faces/plan.c", '#include "faces/face.h"', True),
    ("springs/grid/sweep.c", '#include "springs/plan.h"\n#include "state/system.h"', False),
    ("contact/a.c", '#include "integrate/integrate.h"', True),
    ("base/a.c", '#include "parallel/team.h"', True),
    ("parallel/a.c", '#include "base/memory.h"', False),
    ("parallel/a.c", '#include "simd/wide.h"', True),
    ("simd/a.h", '#include "scene/scene.h"', True),
    ("output/a.c", '#include "scene/scene.h"', False),
    ("contact/a.c", '#include "intersections/intersections.h"', True),
    ("intersections/a.c", '#include "contact/contact.h"', True),
    ("intersections/a.c", '#include "parallel/team.h"\n#include "base/sort.h"', False),
    ("cli/a.c", '#include "intersections/intersections.h"', False),
    ("cli/a.c", '#include "intersections/triangles.h"', True),
    ("output/a.c", '#include "cli/main.h"', True),
    ("cli/a.c", '#include "output/recording.h"\n#include "version_info.h"', False),
    ("solver/a.c", '#include "solver/private.h"\n#include "state/frame.h"', False),
    ("solver/a.c", '#include "output/file.h"', True),
    ("state/a.c", '#include "output/vtp.h"', True),
    ("output/a.c", '#include "state/frame.h"\n#include "solver/solver.h"', False),
    ("output/a.c", '#include "solver/private.h"', True),
    ("output/a.c", '#include "picture/subject.h"', True),
    ("study/a.c", '#include "output/file.h"', True),
    ("solver/a.c", '#include "study/study.h"', True),
    ("cli/a.c", '#include "solver/solver.h"', False),
    ("cli/a.c", '#include "solver/private.h"', True),
    ("study/a.c", '#include "solver/internals.h"', True),
    ("study/a.c", '#include "solver/solver.h"\n#include "stability/limits.h"', False),
    ("study/a.c", '#include "cli/main.h"', True),
    ("study/a.c", '#include "picture/renderer.h"', True),
    ("output/a.c", '#include "study/study.h"', True),
    ("picture/a.c", '#include "solver/solver.h"\n#include "output/file.h"', False),
    ("picture/a.c", '#include "play/player.h"', True),
    ("play/a.c", '#include "picture/subject.h"\n#include "solver/solver.h"', False),
    ("play/a.c", '#include "view/window.h"', True),
    ("view/a.c", '#include "play/player.h"\n#include "picture/renderer.h"', False),
    ("view/a.c", '#include "study/study.h"', True),
    ("cli/a.c", "solver->functions->hash(system);", True),
    ("solver/a.c", "solver->functions->hash(system);", False),
    ("forces/a.c", "return system->plan->grid_count;", True),
    ("state/a.c", "void f(const struct plan *plan)\n{\n    g(plan->grid_count);\n}", True),
    ("solver/a.c", "struct plan made = {0};\nmade.grid_count = 1;", True),
    ("solver/a.c", "void f(const struct plan *plan)\n{\n    g(a->plan_options, plan_counts(t, plan).grids);\n}",
     False),
    ("cli/a.c", "const struct render_plan *plan = 0;\nreturn plan->count;", False),
    ("springs/a.c", "return system->plan->grid_count;", False),
    ("api.c", '#include "solver/solver.h"', True),
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
    if not outside_violations("tests/a.c", "solver->functions->hash(solver->system);"):
        print("the checker misses a call of the numeric part in a test")
        return False
    return not wrong


def main():
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src")
    if not prove():
        return 1
    files, found = 0, []
    for folder, _, names in os.walk(source):
        for name in sorted(names):
            if not name.endswith((".c", ".h", ".cc")):
                continue
            files += 1
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                found += violations(os.path.relpath(path, source), file.read(),
                                    lambda name: os.path.exists(os.path.join(source, name)))
    for folder in ("tests", "bench"):
        for root, _, names in os.walk(os.path.join(source, "..", folder)):
            for name in sorted(names):
                # neon/ compiles the numeric part by itself, for a machine without a solver.
                if name.endswith((".c", ".h", ".cc")) and os.path.basename(root) != "neon":
                    files += 1
                    path = os.path.join(root, name)
                    with open(path, encoding="utf-8") as file:
                        found += outside_violations(os.path.relpath(path, source), file.read())
    for sentence in found:
        print(sentence)
    print(f"{files} files, {len(found)} violations")
    return 1 if found or files == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
