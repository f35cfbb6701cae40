#!/usr/bin/python3
"""run_tests with made-up runners: passing, failing, crashing, silent, late."""
import importlib.machinery
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("run_tests", os.path.join(HERE, "run_tests"))
run_tests = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_tests", loader))
loader.exec_module(run_tests)

GOOD = """echo '[==========] Running 2 test(s).'
echo '[ RUN      ] a'; printf 'half a line'; echo '[       OK ] a'
echo '[ RUN      ] b'; echo '[       OK ] b'; echo '[==========] 2 test(s) run.'"""
MIXED = """echo '[==========] Running 3 test(s).'
echo '[ RUN      ] a'; echo '[       OK ] a'
echo '[ RUN      ] b'; echo 'no vtk here'; echo '[  SKIPPED ] b'
echo '[ RUN      ] c'; echo '[  FAILED  ] c' >&2
echo '[  SKIPPED ] 1 test(s), listed below:'; echo '[  SKIPPED ] b'
echo '[  FAILED  ] 1 test(s), listed below:'; echo '[  FAILED  ] c'; exit 1"""
CRASHING = """echo '[==========] Running 4 test(s).'
echo '[ RUN      ] a'; echo '[       OK ] a'; echo '[ RUN      ] b'; kill -SEGV $$"""
SETUP = """echo '[==========] Running 3 test(s).'
echo '[  FAILED  ] GROUP SETUP'; echo '[  ERROR   ] group'; exit 1"""
LEAKING = GOOD + "\nexit 1"
TWO_GROUPS = GOOD + "\n" + GOOD

# label, script, passed, failed, skipped, a word of the first failure
CASES = [
    ("cmocka", GOOD, 2, 0, 0, ""),
    ("cmocka", MIXED, 1, 1, 1, "c"),
    ("cmocka", CRASHING, 1, 3, 0, "SIGSEGV"),
    ("cmocka", SETUP, 0, 3, 0, "before it"),
    ("cmocka", LEAKING, 2, 1, 0, "though no function failed"),
    ("cmocka", TWO_GROUPS, 4, 0, 0, ""),
    ("cmocka", "exit 0", 0, 1, 0, "announced no tests"),
    ("cmocka", "kill -ABRT $$", 0, 1, 0, "SIGABRT"),
    ("script", "exit 0", 1, 0, 0, ""),
    ("script", "echo no compiler; exit 77", 0, 0, 1, ""),
    ("script", "exit 3", 0, 1, 0, "exited with 3"),
    ("script", "kill -TERM $$", 0, 1, 0, "SIGTERM"),
    ("script", "sleep 60", 0, 2, 0, "SIGKILL"),
]


def main():
    wrong = 0
    for label, script, *expected, word in CASES:
        test = {"name": "made-up", "command": ["/bin/sh", "-c", script],
                "properties": [{"name": "LABELS", "value": [label]}]}
        outcome = run_tests.run(test, 0.5 if "sleep" in script else 60)
        found = [outcome.passed, len(outcome.failures), len(outcome.skips)]
        first = outcome.failures[0] if outcome.failures else ""
        if found != expected or word not in first:
            print(f"{script}\n  expected {expected} '{word}', found {found} '{first}'")
            wrong += 1
    mixed = run_tests.Outcome("mixed")
    mixed.output = "[==========] Running 1 test(s).\n[ RUN      ] a\nno vtk\n[  SKIPPED ] a\nend\n"
    run_tests.judge_cmocka(mixed, 0)
    if mixed.skips != [("a", ["no vtk"])]:
        print(f"a skipped function should give its own reason, not {mixed.skips}")
        wrong += 1
    unbuilt = run_tests.run({"name": "unbuilt"}, 1)
    absent = run_tests.run({"name": "absent", "command": ["/nowhere/at/all"]}, 1)
    for outcome in (unbuilt, absent):
        if len(outcome.failures) != 1 or outcome.passed:
            print(f"{outcome.name}: not one failure")
            wrong += 1
    print(f"{len(CASES) + 3 - wrong} of {len(CASES) + 3} made-up runners were judged right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
