#!/usr/bin/python3
"""Checks the references in the pages of the repository: README.md, CONTRIBUTING.md, docs/*.md and
scenes/README.md.

    test_docs.py              fails where a page refers to something that does not exist

It checks
- paths: `src/...` anywhere, and `FOLDER/NAME.c` and the like between backticks, relative to the top
  folder or to src/; `*` matches as in a shell, and so does a part in capitals, such as NAME. The
  changelog may name files that were moved later;
- links to files and to headings, whose anchors are those that GitHub makes;
- tables: a table has a head, a line of dashes, and rows of as many cells, without prose between;
- pages (NAME.md) named in comments of src/, cmake/ and scenes/, and source files named in comments
  of src/ by any part of their path;
- verbs: `./dev VERB` anywhere, and the verbs that `./dev help` lists are those that it knows.

test_tutorial.py compares the output of runs, and test_scene_docs.c the tables of keys. The checker
is tested on made-up mistakes.
"""
import glob
import os
import re
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PAGES = ["README.md", "CONTRIBUTING.md", "scenes/README.md", "docs/*.md"]
CODE_FOLDERS = ["src", "cmake", "scenes"]
NAMED_FOLDERS = ["src", "tests", "bench", "tools", "docs", "scenes"]
# Pages of other projects that comments cite.
FOREIGN_PAGES = {"xxhash_spec.md"}
CODE_NAMES = re.compile(r"\.(c|h|cc|py|sh|yaml|cmake|glsl)$|^CMakeLists\.txt$")
FENCE = re.compile(r"^\s*```")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
PREFIXED = re.compile(r"(?<![\w/.-])src/[\w./*-]*[\w/*]")
QUOTED = re.compile(r"`([\w.*-]+(?:/[\w.*-]+)*/(?:[\w*-]+\.(?:c|h|cc|py|sh|yaml|glsl|md))?)`")
HEADING = re.compile(r"^#+ +(.*?)\s*$")
VERB = re.compile(r"\./dev ([a-z]+)")
PAGE_NAME = re.compile(r"(?<![\w./-])((?:[\w.-]+/)*[\w-]+\.md)\b")
FILE_NAME = re.compile(r"(?<![\w./<*-])((?:\w+/)*\w+\.(?:c|h|cc|py|sh|glsl))\b")
# A part of a path that matches any name.
PLACEHOLDER = re.compile(r"(?<![^/_])[A-Z]{2,}(?:_[A-Z]+)*(?![^/_.])")
# Folders that runs and builds create, which are not in the repository.
MADE = ("out/", "build/")


def anchor(heading):
    """The anchor that GitHub makes from a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def prose(text):
    """(number, line) of the lines outside of fenced blocks."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield number, line


def anchors(text):
    found = set()
    for _, line in prose(text):
        match = HEADING.match(line)
        if match:
            base = name = anchor(match.group(1))
            count = 0
            while name in found:
                count += 1
                name = f"{base}-{count}"
            found.add(name)
    return found


def cells(line):
    """The number of cells of a row: bars in code or after a backslash do not separate cells."""
    bare = re.sub(r"`[^`]*`", "", line.strip().replace("\\|", ""))
    return bare.count("|") - 1


def table_complaints(text):
    """Prose that splits a table leaves rows without a head after it."""
    found, rows = [], []
    for number, line in [*prose(text), (0, "")]:
        if line.startswith("|"):
            rows.append((number, line))
            continue
        if rows:
            first = rows[0][0]
            if len(rows) < 2 or not re.fullmatch(r"\|(?: *:?-+:? *\|)+", rows[1][1].strip()):
                found.append((first, "a table without a head; is one table split in two?"))
            found += [(n, "a row with another number of cells than its table's head")
                      for n, row in rows if cells(row) != cells(rows[0][1])]
        rows = []
    return found


def path_complaints(text, exists):
    found = []
    for number, line in prose(text):
        for name in PREFIXED.findall(line):
            if not exists(name):
                found.append((number, f"there is no {name}"))
        for name in QUOTED.findall(line):
            if name.startswith(("src/", *MADE)):
                continue
            if not exists(name) and not exists("src/" + name):
                found.append((number, f"there is no {name}, nor src/{name}"))
    return found


def link_complaints(page, text, exists, read):
    """Checks the links of `page`, a path relative to the top folder."""
    found = []
    for number, line in prose(text):
        for link in LINK.findall(re.sub(r"`[^`]*`", "`", line)):
            if re.match(r"[a-z]+:", link):
                continue
            name, _, target = link.partition("#")
            path = os.path.normpath(os.path.join(os.path.dirname(page), name)) if name else page
            if not exists(path):
                found.append((number, f"a link to {link}: there is no {path}"))
            elif target and target not in anchors(text if path == page else read(path)):
                found.append((number, f"a link to {link}: {path} has no such heading"))
    return found


def page_complaints(text, names):
    """Checks the pages that a source file names; `names` are those of the repository, without
    folders."""
    return [(number, f"there is no page {name}")
            for number, line in enumerate(text.splitlines(), 1)
            for name in PAGE_NAME.findall(line) if os.path.basename(name) not in names]


def comment_complaints(text, paths):
    """Checks the files named in comments of C code; `paths` are those of the repository."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        comment = line.partition("//")[2]
        found += [(number, f"a comment names {name}, and there is no such file")
                  for name in FILE_NAME.findall(comment)
                  if not PLACEHOLDER.search(name)
                  and not any(("/" + path).endswith("/" + name) for path in paths)]
    return found


def known_verbs(script):
    """The verbs that ./dev executes: the patterns of its last `case`."""
    body = script[script.rindex("\ncase "):]
    return {verb for pattern in re.findall(r"(?m)^([a-z| -]+)\)", body)
            for verb in re.findall(r"(?<!-)\b[a-z]{2,}", pattern)}


def listed_verbs(script):
    """The verbs of the text that `./dev help` prints."""
    text = script[script.index("usage: ./dev"):script.index("\nHELP\n")]
    return set(re.findall(r"(?m)^  ([a-z]+)", text))


def verb_complaints(text, verbs):
    return [(number, f"./dev has no verb {verb}")
            for number, line in enumerate(text.splitlines(), 1)
            for verb in VERB.findall(line) if verb not in verbs]


# ---- Test of the checker

def prove():
    there = {"src/a.c", "src/base", "src/base/b.h", "docs/x.md", "README.md"}

    def exists(name):
        return name.rstrip("/") in there

    def read(_):
        return "# The `taut` head\n## Two\n## Two\n"

    cases = [
        (path_complaints("see src/a.c and `base/b.h`, `base/`.", exists), 0),
        (path_complaints("`src/gone.c`", exists), 1),
        (path_complaints("src/gone", exists), 1),
        (path_complaints("`base/gone.h`", exists), 1),
        (path_complaints("`gone/`", exists), 1),
        (path_complaints("`out/x.yaml`, 3 springs/s, `springs/s`", exists), 0),
        (path_complaints("```\n`base/gone.h`\n```", exists), 0),
        (link_complaints("docs/x.md", "[a](../README.md#the-taut-head) [b](#own)\n# Own", exists,
                         read), 0),
        (link_complaints("docs/x.md", "[a](../README.md#two-1) [b](https://x.org/y)", exists,
                         read), 0),
        (link_complaints("docs/x.md", "[a](README.md)", exists, read), 1),
        (link_complaints("docs/x.md", "[a](../README.md#three)", exists, read), 1),
        (link_complaints("docs/x.md", "[a](#three)\n# Two", exists, read), 1),
        (table_complaints("| a | b |\n|---|---|\n| `c|d` | e \\| f |\n"), 0),
        (table_complaints("| a | b |\n|---|---|\nprose\n| c | d |\n"), 1),
        (table_complaints("| a | b |\n|---|---|\n| c |\n"), 1),
        (page_complaints("// docs/x.md, README.md", {"x.md", "README.md"}), 0),
        (page_complaints("// as design/physics.md derives", {"x.md", "README.md"}), 1),
        (comment_complaints("// b.h, base/b.h, *_body.h, NAME.h", {"src/base/b.h"}), 0),
        (comment_complaints("x.y.c = 1; // other/b.h", {"src/base/b.h"}), 1),
        (comment_complaints("// gone.c", {"src/base/b.h"}), 1),
    ]
    script = ("usage: ./dev VERB\n\n  run [X]  a\n  test     b\n\nHELP\n"
              "case $a in\nrun | make) ;;\ntest) b ;;\nhelp | -h | --help) c ;;\n*) d ;;\nesac\n")
    verbs = known_verbs(script)
    cases += [
        (verb_complaints("./dev run, `./dev test NAME`", verbs), 0),
        (verb_complaints("`./dev fuzz`", verbs), 1),
        (verbs ^ {"run", "make", "test", "help"}, 0),
        (verbs ^ listed_verbs(script), 2),  # make and help are not listed there
    ]
    wrong = [case for case in cases if len(case[0]) != case[1]]
    for case in wrong:
        print(f"the checker found {case[0]} instead of {case[1]} mistakes")
    return not wrong


def contents(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def main():
    if not prove():
        return 1

    def exists(name):
        pattern = PLACEHOLDER.sub("*", name)
        return any(glob.glob(os.path.join(ROOT, each)) for each in (name, pattern))

    pages = [os.path.relpath(path, ROOT) for pattern in PAGES
             for path in sorted(glob.glob(os.path.join(ROOT, pattern)))]
    script = contents("dev")
    verbs = known_verbs(script)
    found = [("dev", 0, f"help and the verbs differ in {verb}")
             for verb in verbs ^ listed_verbs(script)]
    for page in pages:
        text = contents(page)
        complaints = (table_complaints(text) + link_complaints(page, text, exists, contents)
                      + verb_complaints(text, verbs))
        if page != "docs/changelog.md":
            complaints += path_complaints(text, exists)
        found += [(page, *complaint) for complaint in complaints]

    names = FOREIGN_PAGES | {os.path.basename(page) for page in pages} | {
        os.path.basename(path) for path in glob.glob(os.path.join(ROOT, "*.md"))}
    paths = {os.path.join(os.path.relpath(root, ROOT), name) for folder in NAMED_FOLDERS
             for root, _, file_names in os.walk(os.path.join(ROOT, folder)) for name in file_names}
    files = 0
    for folder in CODE_FOLDERS:
        for root, folders, file_names in os.walk(os.path.join(ROOT, folder)):
            folders[:] = [name for name in folders if name not in ("results", "__pycache__")]
            for name in sorted(file_names):
                path = os.path.relpath(os.path.join(root, name), ROOT)
                if CODE_NAMES.search(name):
                    files += 1
                    text = contents(path)
                    complaints = page_complaints(text, names)
                    if folder == "src":
                        complaints += comment_complaints(text, paths)
                    found += [(path, *complaint) for complaint in complaints]
    for path, number, sentence in sorted(found):
        print(f"{path}:{number}: {sentence}")
    print(f"{len(pages)} pages, {files} source files, {len(found)} complaints")
    return 1 if found or not pages or not files else 0


if __name__ == "__main__":
    sys.exit(main())
