"""A window of `taut view` on a virtual screen, controlled by real mouse and key events (xdotool).

Without Xvfb, xdotool, OpenGL on that screen, or a viewer in this build of taut, `start` ends the
test as skipped (77)."""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time

SIZE = (1100, 720)


def skip(why):
    print("skipped:", why)
    sys.exit(77)


class Picture:
    """Four bytes per pixel: blue, green, red, and an unused one."""

    def __init__(self, width, height, stride, data):
        self.width, self.height, self.stride, self.data = width, height, stride, data

    def changed(self, other, box):
        """The share of the pixels in a box (x, y, width, height) that differ visibly."""
        x, y, width, height = (int(value) for value in box)
        different = 0
        for row in range(y, y + height):
            start = row * self.stride + 4 * x
            mine, its = self.data[start:start + 4 * width], other.data[start:start + 4 * width]
            if mine != its:
                different += sum(abs(mine[i] - its[i]) > 24 for i in range(1, 4 * width, 4))
        return different / (width * height)


class Screen:
    """A separate virtual screen, of a common size or another."""

    def __init__(self, size=(1280, 800)):
        for program in ("Xvfb", "xdotool"):
            if not shutil.which(program):
                skip(f"{program} is not installed")
        read, write = os.pipe()
        self.folder = tempfile.mkdtemp(prefix="taut-screen-")
        # No auto-repeat (-r): on a busy machine, more than its delay can pass between the press and
        # the release of a key, which would type it several times.
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", "%dx%dx24" % size, "+extension", "GLX",
             "-nolisten", "tcp", "-noreset", "-r", "-fbdir", self.folder], pass_fds=[write],
            stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as pipe:
            number = pipe.readline().strip()
        if not number:
            skip("Xvfb does not start")
        self.environment = dict(os.environ, DISPLAY=":" + number)
        self.environment.pop("WAYLAND_DISPLAY", None)
        # OpenGL drivers leak a few bytes; once they are unloaded, leaks cannot be attributed to
        # them.
        self.environment["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"

    def close(self):
        self.server.terminate()
        self.server.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def picture(self):
        """The present contents of the screen. Xvfb keeps them in a file, as an X window dump."""
        with open(os.path.join(self.folder, "Xvfb_screen0"), "rb") as file:
            dump = file.read()
        fields = struct.unpack(">25I", dump[:100])
        return Picture(fields[4], fields[5], fields[12], dump[fields[0] + 12 * fields[19]:])

    def do(self, *words):
        """Runs xdotool with these words, e.g. do("mousemove", 10, 20, "click", 1)."""
        subprocess.run(["xdotool", *map(str, words)], env=self.environment, check=True)


class Window:
    """One `taut view` process, and its reports."""

    def __init__(self, screen, taut, scene, *options, size=SIZE):
        self.screen = screen
        self.folder = tempfile.mkdtemp(prefix="taut-view-")
        self.file = os.path.join(self.folder, "report.jsonl")
        self.errors = open(os.path.join(self.folder, "errors"), "w+")
        self.process = subprocess.Popen(
            [taut, "view", scene, "--size", "%dx%d" % size, "--threads", "1", "--report", self.file,
             "--screenshot", os.path.join(self.folder, "window.png"), *options],
            env=screen.environment, stdout=subprocess.DEVNULL, stderr=self.errors)
        self.until(lambda now: now["frames"] >= 3, "the window opens")

    def output(self):
        self.errors.seek(0)
        return self.errors.read()

    def lines(self):
        if not os.path.exists(self.file):
            return []
        with open(self.file) as file:
            return [line for line in file.read().split("\n")[:-1] if line]

    def until(self, holds, what, seconds=60):
        """Waits for a new report for which `holds` is true, and returns it."""
        seen = len(self.lines())
        end = time.monotonic() + seconds
        last = None
        while time.monotonic() < end:
            if self.process.poll() is not None:
                output = self.output()
                if "no window with OpenGL" in output or "built without" in output:
                    skip(output.strip())
                raise AssertionError(f"{what}: the program ended with {self.process.returncode}: "
                                     f"{output}")
            for line in self.lines()[seen:]:
                last = json.loads(line)
                seen += 1
                if holds(last):
                    return last
            time.sleep(0.05)
        raise AssertionError(f"{what}: not within {seconds} s; the last report was {last}")

    def now(self):
        return self.until(lambda report: True, "a report")

    def handled(self):
        """Waits until the events sent so far are handled, which takes a few frames: of fast
        successions of events, each frame takes some."""
        sent = self.now()["frames"]
        self.until(lambda now: now["frames"] >= sent + 4, "events are handled")

    def drag(self, start, displacement, button=1, keys=(), steps=12, held=None):
        """Presses, moves by `displacement` (pixels) in steps, and releases; `held` must become
        true before the release."""
        do = self.screen.do
        do("mousemove", int(start[0]), int(start[1]))
        self.handled()
        for key in keys:
            do("keydown", key)
        do("mousedown", button)
        self.handled()
        for i in range(1, steps + 1):
            do("mousemove", *(int(start[axis] + displacement[axis] * i / steps) for axis in (0, 1)))
            time.sleep(0.06)
        self.handled()
        seen = self.until(held, "what is held follows") if held else None
        do("mouseup", button)
        for key in keys:
            do("keyup", key)
        return seen

    def click(self, name):
        """Clicks the middle of a widget."""
        x, y, width, height = self.until(lambda now: name in now["widgets"], name)["widgets"][name]
        self.screen.do("mousemove", int(x + min(width / 2, 30)), int(y + height / 2))
        time.sleep(0.3)
        self.screen.do("mousedown", 1)
        time.sleep(0.3)
        self.screen.do("mouseup", 1)

    def close(self):
        """Closes the window by the keyboard, as users do."""
        self.screen.do("key", "--clearmodifiers", "ctrl+q")
        try:
            code = self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError("ctrl+Q does not end it")
        assert code == 0, f"it ended with {code}: {self.output()}"
        assert self.output() == "", self.output()
        self.forget()

    def forget(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.errors.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def log(text):
    print(text, flush=True)


def run_tests(tests, size=(1280, 800)):
    """The tests named on the command line, or all of them, on a screen of this size; each is called
    with the screen, the program and an empty folder."""
    if len(sys.argv) < 2:
        sys.exit(f"usage: {os.path.basename(sys.argv[0])} TAUT [NAME...]")
    screen = Screen(size)
    try:
        with tempfile.TemporaryDirectory() as folder:
            for test in tests:
                if len(sys.argv) < 3 or test.__name__ in sys.argv[2:]:
                    test(screen, sys.argv[1], folder)
                    log(f"{test.__name__}: well")
    finally:
        screen.close()
