"""Draws the report of a study of `taut stability`: seven figures as SVG and PNG, and report.html.

    taut_report STUDY.json --output DIR       writes the report's files into a folder
    taut_report STUDY.json NAME=DESCRIPTOR... writes them to files that the caller has opened, as
                                              taut itself does

Ends with 0, with 1 after a message on standard error, with 2 where it is called wrongly, and with 3
where matplotlib is missing.
"""
import os
import sys

PACKAGE_MISSING = 3  # python_tool.h


def refuse(code, message):
    """Exits with that code and a message."""
    print(f"taut_report: {message}", file=sys.stderr)
    sys.exit(code)


class Output:
    """The destination of files: descriptors by name, or a folder, in which a file gets its name
    when it is complete."""

    def __init__(self, words):
        self.folder, self.descriptors = None, {}
        if len(words) == 2 and words[0] == "--output":
            self.folder = words[1]
            return
        for word in words:
            name, _, descriptor = word.partition("=")
            if not descriptor.isdigit():
                refuse(2, f"'{word}' is not NAME=DESCRIPTOR\n{__doc__}")
            self.descriptors[name] = int(descriptor)
        if not words:
            refuse(2, f"nothing to write to\n{__doc__}")

    def write(self, name, content):
        """Writes a whole file of bytes."""
        try:
            if self.folder is None:
                self._write_through(self.descriptors[name], content)
                return
            os.makedirs(self.folder, exist_ok=True)
            draft = os.path.join(self.folder, f".{name}-{os.getpid()}.tmp")
            try:
                self._write_through(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666),
                                    content)
                os.replace(draft, os.path.join(self.folder, name))
            except BaseException:
                if os.path.exists(draft):
                    os.unlink(draft)
                raise
        except OSError as error:
            refuse(1, f"cannot write '{name}': {error.strerror}")

    @staticmethod
    def _write_through(descriptor, content):
        with open(descriptor, "wb", buffering=0) as file:
            while content:
                content = content[file.write(content):]


def main(words):
    """The command line program."""
    if not words or words[0] in ("-h", "--help"):
        refuse(2, __doc__)
    output = Output(words[1:])
    # Only one thread draws; the libraries' further threads would only need memory for their stacks.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        import figures  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        refuse(PACKAGE_MISSING, error)
    import page  # pylint: disable=import-outside-toplevel
    import study  # pylint: disable=import-outside-toplevel
    try:
        figures.prepare()
    except KeyError as error:
        refuse(PACKAGE_MISSING, f"matplotlib is older than 3.6, it has no {error}")

    try:
        measured = study.read(words[0])
    except OSError as error:
        refuse(1, f"cannot read '{words[0]}': {error.strerror}")
    except study.StudyError as error:
        refuse(1, f"'{words[0]}' cannot be drawn: {error}")
    parts = []
    for figure in figures.FIGURES:
        if figure.present(measured):
            drawn = figures.render(figure, measured)
            output.write(f"{figure.name}.svg", drawn.svg)
            output.write(f"{figure.name}.png", drawn.png)
            parts.append((figure, drawn.part))
    output.write("report.html", page.make(measured, parts).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
