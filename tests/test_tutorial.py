#!/usr/bin/python3 -B
"""Runs the commands shown in the documents in an empty folder, and compares their output with the
output shown.

    test_tutorial.py TAUT [DOCUMENT...]            fails where a document is stale
    test_tutorial.py --renew TAUT [DOCUMENT...]    writes what is printed into the documents

TAUT is the program of a build folder; the default documents are DOCUMENTS below. CC and CFLAGS are
the compiler and flags for programs that use the library.

In a document

- a block ```sh has commands; all blocks of a document run one after the other, in one folder, in
  which scenes/ and build/release/ are those of the repository. `./dev run` and `./dev render` stand
  for the program that they would build.
- the next block ```text has their output on both streams, without progress lines. A line `...`
  stands for any lines; without one at the beginning or the end the block is complete there.
- a block ```text that begins with `$ ` has commands together with their output.
- <!-- file: NAME --> before a block writes it to NAME; <!-- run: COMMAND --> is a command that is
  not shown; <!-- exit: N --> expects the exit code N, not 0, of the next commands;
  <!-- skip: WHY --> skips the next block.

Text that depends on the machine, the time or the number of threads is not compared (MASKS).
"""
import difflib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
DOCUMENTS = ("README.md", "docs/tutorial.md", "docs/scene.md")
SKIPPED = 77
SECONDS_MAX = 300  # of the commands of one block

PROGRESS = re.compile(r"taut: +\d+%  t ")
MASKS = [(re.compile(pattern), hidden) for pattern, hidden in (
    (r"(instruction set )\w+", r"\1ISA"),
    (r"(instruction set \w+, )\d+ threads?", r"\1N threads"),
    (r"^(  set-up     ).*", r"\1TIME"),
    (r"^(  stepping   ).*", r"\1TIME AND RATES"),
    (r"^(  threads    by ).*", r"\1RUNTIME"),
    (r"^(  memory     ).*", r"\1BYTES"),
)]
# The stages that are listed depend on their shares of the time, and so do line breaks.
STAGES, CONTINUED = "  stages     ", " " * 13


def masked(line):
    for pattern, hidden in MASKS:
        line = pattern.sub(hidden, line)
    return line


class Line:
    """A line as printed and as compared."""

    def __init__(self, text, shares=False):
        self.text = text
        self.key = STAGES + "SHARES" if shares else masked(text)

    def __eq__(self, other):
        return self.key == other.key

    __hash__ = None


def lines_of(texts):
    """The lines to compare; those of the stages are joined."""
    found = []
    for text in texts:
        if found and found[-1].key == STAGES + "SHARES" and text.startswith(CONTINUED):
            found[-1].text += "\n" + text
        else:
            found.append(Line(text, text.startswith(STAGES)))
    return found


# ---- Documents


class Block:
    """A fenced block: its language, its lines, the number of the first, and the comments before it.
    """

    def __init__(self, language, number, directives):
        self.language, self.number, self.directives = language, number, directives
        self.lines = []

    def value(self, name):
        return next((value for key, value in self.directives if key == name), None)


def blocks_of(text):
    blocks, directives, block = [], [], None
    for number, line in enumerate(text.splitlines(), 1):
        directive = re.fullmatch(r"<!-- (file|run|exit|skip): (.*) -->", line)
        if block is None and directive:
            directives.append(directive.groups())
        elif line.startswith("```") and block is None:
            block = Block(line[3:].strip(), number + 1, directives)
            directives = []
        elif line.startswith("```"):
            blocks.append(block)
            block = None
        elif block is not None:
            block.lines.append(line)
    return blocks


class Example:
    """Commands, their output as shown, and its position."""

    def __init__(self, commands, block, code):
        self.commands, self.block, self.code = commands, block, code
        self.shown, self.number = None, 0

    def show(self, lines, number):
        self.shown, self.number = lines, number


def examples_of(blocks, complaints):
    """The steps of a document in order: (file name, content), a command or an Example."""
    steps, last = [], None
    for block in blocks:
        steps += [value for key, value in block.directives if key == "run"]
        code = int(block.value("exit") or 0)
        if block.value("file"):
            steps.append((block.value("file"), "\n".join(block.lines) + "\n"))
        if block.value("skip"):
            last = None
        elif block.language == "sh":
            last = Example("\n".join(block.lines), block, code)
            steps.append(last)
        elif block.language == "text" and block.lines and block.lines[0].startswith("$ "):
            starts = [i for i, line in enumerate(block.lines) if line.startswith("$ ")]
            for start, end in zip(starts, starts[1:] + [len(block.lines)]):
                example = Example(block.lines[start][2:], block, code)
                example.show(block.lines[start + 1:end], block.number + start + 1)
                steps.append(example)
            last = None
        elif block.language == "text":
            if last is None:
                complaints.append(f":{block.number}: a block of text that no command prints")
            else:
                last.show(block.lines, block.number)
            last = None
    return steps


# ---- Running


class Folder:
    """The folder in which the commands of a document run; exported variables are kept."""

    def __init__(self, path, taut):
        self.path, self.exports, self.draws = path, [], False
        tools = os.path.join(path, ".tools")
        os.makedirs(tools)
        os.makedirs(os.path.join(path, "build"))
        os.makedirs(os.path.join(path, "home"))
        os.symlink(os.path.join(ROOT, "scenes"), os.path.join(path, "scenes"))
        os.symlink(os.path.dirname(taut), os.path.join(path, "build/release"))
        self.write(".tools/taut", f'#!/bin/sh\nexec "{taut}" "$@"\n')
        self.write("dev", '#!/bin/sh\n[ "$*" != run ] || set -- run scenes/flag.yaml --force\n'
                          'exec taut "$@"\n')
        compiler = shutil.which(os.environ.get("CC", "cc"))  # by path: `cc` is this script
        self.write(".tools/cc", f'#!/bin/sh\nexec {compiler} {os.environ.get("CFLAGS", "")} "$@"\n')
        for name in (".tools/taut", ".tools/cc", "dev"):
            os.chmod(os.path.join(path, name), 0o755)
        self.environment = {**os.environ, "HOME": os.path.join(path, "home"), "LC_ALL": "C.UTF-8",
                            "PATH": tools + os.pathsep + os.environ["PATH"]}
        self.environment.pop("TAUT_ISA", None)
        self.draws = self.run("taut render scenes/rope.yaml --time 0 --size 16x16 --output "
                              "try.png", True)[0] == 0
        if not self.draws:
            print("nothing is drawn: this build or machine cannot")

    def write(self, name, text):
        with open(os.path.join(self.path, name), "w", encoding="utf-8") as file:
            file.write(text)

    def run(self, commands, draws=False):
        """(exit status of the last command that failed, or 0; the lines printed)"""
        lines = [line for line in commands.splitlines() if not line.startswith("alias ")]
        if not (draws or self.draws):
            lines = [line for line in lines if not line.startswith(("taut render", "./dev render"))]
        # A film with fewer pixels tests the same, and is ten times as fast.
        lines = [re.sub(r"^(taut render .*\.mp4)$", r"\1 --size 320x180", line) for line in lines]
        script = "\n".join(["set -e", *self.exports, *lines])
        with subprocess.Popen(["bash", "-c", script], cwd=self.path, env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, start_new_session=True) as process:
            try:
                output = process.communicate(timeout=SECONDS_MAX)[0]
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                output = process.communicate()[0] + b"\n(stopped after %d s)" % SECONDS_MAX
        self.exports += [line for line in lines if line.startswith("export ")]
        printed = output.decode("utf-8", errors="replace").splitlines()
        return process.returncode, [line for line in printed if not PROGRESS.match(line)]


# ---- Comparing


def segments_of(shown):
    """Groups of lines between the lines `...`, and whether there is one before and after all of
    them."""
    segments, open_start, gap = [[]], False, False
    for index, text in enumerate(shown):
        gap = text.strip() == "..."
        if gap and index == 0:
            open_start = True
        elif gap:
            segments.append([])
        else:
            segments[-1].append(text)
    return [lines_of(s) for s in segments if s], open_start, gap


def find(lines, segment, start):
    for at in range(start, len(lines) - len(segment) + 1):
        if lines[at:at + len(segment)] == segment:
            return at
    return None


def nearest(lines, line, start):
    """The index of the most similar line."""
    def likeness(index):
        return difflib.SequenceMatcher(None, lines[index].key, line.key, autojunk=False).ratio()
    return max(range(start, len(lines)), key=likeness, default=start)


def locate(lines, segment, start, open_start, at_end):
    """The range of lines where a segment should be: (first, end)."""
    exact = find(lines, segment, start)
    if exact is not None and (open_start or exact == start) and \
            (not at_end or exact + len(segment) == len(lines)):
        return exact, exact + len(segment)
    first = nearest(lines, segment[0], start) if open_start else start
    last = len(lines) - 1 if at_end else nearest(lines, segment[-1], first)
    return first, max(last, first) + 1


def compare(shown, printed):
    """(the text that should be shown; the differences: (index in `shown`, shown, printed))"""
    segments, open_start, open_end = segments_of(shown)
    lines, renewed, differences, start, index = lines_of(printed), [], [], 0, 0
    for number, segment in enumerate(segments):
        opened = open_start or number > 0
        if opened:
            gap = next(i for i in range(index, len(shown)) if shown[i].strip() == "...")
            renewed.append(shown[gap])
            index = gap + 1
        at_end = number == len(segments) - 1 and not open_end
        first, last = locate(lines, segment, start, opened, at_end)
        matcher = difflib.SequenceMatcher(None, [l.key for l in segment],
                                          [l.key for l in lines[first:last]], autojunk=False)
        for kind, a, b, c, d in matcher.get_opcodes():
            offset = sum(l.text.count("\n") + 1 for l in segment[:a])
            old, new = segment[a:b], lines[first + c:first + d]
            # If only masked text differs, the document is unchanged.
            renewed += [text for line in (old if kind == "equal" else new)
                        for text in line.text.split("\n")]
            if kind != "equal":
                differences.append((index + offset, [l.text for l in old], [l.text for l in new]))
        index += sum(l.text.count("\n") + 1 for l in segment)
        start = last
    if open_end:
        renewed.append(shown[-1])
    if not segments and printed and not (open_start or open_end):
        renewed, differences = list(printed), [(0, [], printed)]
    return renewed, differences


def check(name, taut, renew):
    """The complaints about a document; with `renew` it is written instead."""
    path = os.path.join(ROOT, name)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    complaints, changes = [], []
    with tempfile.TemporaryDirectory() as where:
        folder = Folder(os.path.realpath(where), taut)
        for step in examples_of(blocks_of(text), complaints):
            if isinstance(step, tuple):
                folder.write(*step)
                continue
            example = step if isinstance(step, Example) else Example(step, None, 0)
            code, printed = folder.run(example.commands)
            at = example.block.number if example.block else "(not shown)"
            if code != example.code:
                complaints.append(f":{at}: '{example.commands}' ended with {code}, not "
                                  f"{example.code}:\n" + "\n".join(printed[-20:]))
                continue
            if example.shown is None:
                continue
            renewed, differences = compare(example.shown, printed)
            changes.append((example.number, example.shown, renewed))
            for index, shown, new in differences:
                complaints.append(f":{example.number + index}: of '{example.commands}'\n"
                                  + "\n".join([f"    shown    {line}" for line in shown]
                                              + [f"    printed  {line}" for line in new]))
    if renew:
        rewrite(path, text, changes)
        complaints = [c for c in complaints if "\n    " not in c]
    return [name + complaint for complaint in complaints]


# ---- Test of the comparison

RUN = """flag: Flag
  computed   rk4, single precision, instruction set v4, 1 thread
  stepping   1.46 s: 248 M spring updates/s, 42.8 M node updates/s
  stages     gravity_drag 0.2% springs 5.4%
             check 0.1% output 23.5%
  energy     total 3.13471 J
  files      out/a
             out/b""".splitlines()


def knows_stale_from_fresh():
    """(shown, printed, the renewed text, or None if it is up to date)"""
    other = [line.replace("v4, 1 thread", "base, 16 threads").replace("1.46 s: 248", "9 s: 7")
             for line in RUN]
    other[3:5] = ["  stages     springs 99.1%"]
    table = ["head", "", "  euler  1", "* verlet  2", "  rk4  3", "", "tail"]
    longer = [*table[:5], "  xpbd  4", *table[5:]]
    cases = [
        (RUN, RUN, None),
        (RUN, other, None),
        ([RUN[0], "  ...", *RUN[5:]], other, None),
        (["...", RUN[5], "..."], RUN, None),
        (RUN[:6], RUN, RUN),
        (RUN[1:], RUN, RUN),
        (RUN[:5] + RUN[6:], RUN, RUN),
        ([RUN[0], RUN[5]], RUN, RUN),
        ([*RUN, "more"], RUN, RUN),
        (RUN, [], []),
        ([], ["text"], ["text"]),
        (RUN, [*other[:4], "  energy     total 4 J", *other[5:]],
         [*RUN[:5], "  energy     total 4 J", *RUN[6:]]),
        ([RUN[0], "  ...", "  energy     total 3 J", "  ..."], RUN,
         [RUN[0], "  ...", RUN[5], "  ..."]),
        (["...", *table[2:]], table, None),
        (["...", *table[2:]], longer, ["...", *longer[2:]]),
        (["...", "  euler  1", "* verlet  3", "", "..."], longer, ["...", *longer[2:7], "..."]),
    ]
    for shown, printed, expected in cases:
        renewed, differences = compare(shown, printed)
        assert bool(differences) == (expected is not None), (shown, printed, differences)
        assert renewed == (shown if expected is None else expected), (shown, printed, renewed)
        assert not compare(renewed, printed)[1]
    blocks = blocks_of("# Title\n<!-- run: x -->\n```sh\na\n```\n```text\nb\n```\n"
                       "```text\n$ c\nd\n$ e\n```\n```text\nf\n```\n<!-- file: n -->\n"
                       "```yaml\ng\n```\n<!-- skip: why -->\n```text\nh\n```\n")
    complaints = []
    steps = examples_of(blocks, complaints)
    assert steps[0] == "x" and steps[-1] == ("n", "g\n") and len(steps) == 5, steps
    assert [(s.commands, s.shown, s.number) for s in steps[1:4]] == \
        [("a", ["b"], 7), ("c", ["d"], 11), ("e", [], 13)]
    assert complaints == [":15: a block of text that no command prints"], complaints


def rewrite(path, text, changes):
    lines = text.split("\n")
    for number, shown, renewed in sorted(changes, key=lambda change: -change[0]):
        lines[number - 1:number - 1 + len(shown)] = renewed
    renewed = "\n".join(lines)
    if renewed == text:
        return
    with open(path, "w", encoding="utf-8") as file:
        file.write(renewed)
    print(f"{os.path.relpath(path, ROOT)} is renewed")


def main(words):
    renew = words[:1] == ["--renew"]
    words = words[renew:]
    if not words or words[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    if os.environ.get("TAUT_TEST_QUICK"):
        print("documents are compared in builds that are not slowed down")
        return SKIPPED
    missing = [program for program in ("bash", "cmake", "ffmpeg", "pkg-config",
                                       os.environ.get("CC", "cc")) if not shutil.which(program)]
    if missing:
        print("no " + ", ".join(missing))
        return SKIPPED
    knows_stale_from_fresh()
    taut = os.path.realpath(words[0])
    if not os.access(taut, os.X_OK):
        print(f"test_tutorial.py: {words[0]} is no program", file=sys.stderr)
        return 2
    names = [os.path.relpath(os.path.realpath(name), ROOT) for name in words[1:]] or DOCUMENTS
    complaints = [complaint for name in names for complaint in check(name, taut, renew)]
    for complaint in complaints:
        print(complaint)
    if complaints and not renew:
        print("tests/test_tutorial.py --renew TAUT writes what is printed into the documents")
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
