"""Reads and checks study.json of `taut stability` (docs/cli.md), for figures and page."""
import json
import math
from types import SimpleNamespace

FORMAT = 1  # the value of study.json's member taut_study

# In the order of taut's own list, which determines the colour and marker of each in every report.
INTEGRATORS = ("explicit_euler", "symplectic_euler", "verlet", "velocity_verlet", "midpoint", "rk4",
               "implicit_euler", "implicit_midpoint", "bdf2", "xpbd")


class StudyError(Exception):
    """The file is not a study, or not one of this version."""


def _value(value):
    """JSON has null for an unknown number."""
    return math.nan if value is None else value


def _rows(rows, *texts):
    """JSON objects as rows with attributes; all members except `texts` are numbers."""
    return [SimpleNamespace(**{key: value if key in texts else _value(value)
                               for key, value in row.items()}) for row in rows]


class Study:
    """The members of study.json as attributes, with NaN for unknown numbers."""

    def __init__(self, data):
        version = data.get("taut_study") if isinstance(data, dict) else None
        if version != FORMAT:
            raise StudyError("it is not a study.json that this version of taut has written")
        texts = ("scene", "name", "title", "integrator", "machine", "version", "interrupted",
                 "resolved_scene", "settings", "map", "oscillation")
        for key, value in data.items():
            setattr(self, key, value if key in texts or isinstance(value, (list, dict)) else
                    _value(value))
        self.limits = _rows(data["limits"], "integrator", "kind")
        self.drift = _rows(data["drift"], "integrator", "verdict")
        self.order = _rows(data["order"], "integrator", "reason")
        self.work_precision = _rows(data["work_precision"], "integrator")
        self.frequency = _rows(data["frequency"], "integrator")
        self.energy = [SimpleNamespace(integrator=row["integrator"], dt=_value(row["dt"]),
                                       time=row["time"],
                                       energy=[_value(value) for value in row["energy"]])
                       for row in data["energy"]]
        self.integrators = [row.integrator for row in self.limits]
        if self.map is not None:
            self.map = SimpleNamespace(**data["map"])
            self.map.integrators = {
                row["integrator"]: SimpleNamespace(
                    predicted=[_value(value) for value in row["predicted"]],
                    verdicts=row["verdicts"], drifts=[_value(value) for value in row["drifts"]])
                for row in self.map.integrators}

    def of(self, rows, integrator):
        """The rows of one integrator."""
        return [row for row in rows if row.integrator == integrator]

    def reference(self):
        """The reference run's energy over time, or None."""
        return next((series for series in self.energy
                     if series.integrator is None and len(series.time) > 1), None)

    def verdict(self, series):
        """Whether the run with that energy was stable."""
        if series.integrator is None:
            return "stable"
        return next((row.verdict for row in self.drift
                     if row.integrator == series.integrator and row.dt == series.dt), "unknown")

    def cheapest(self, integrator, error):
        """The run with the fewest evaluations among those with at most this error, or None."""
        runs = [row for row in self.of(self.work_precision, integrator) if row.error <= error]
        return min(runs, key=lambda row: row.evaluations, default=None)


def read(path):
    """Reads a study from a file. Raises OSError, StudyError."""
    try:
        with open(path, encoding="utf-8") as file:
            return Study(json.load(file))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise StudyError(f"it is no JSON: {error}") from error
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise StudyError(f"it is incomplete: {type(error).__name__} {error}") from error
