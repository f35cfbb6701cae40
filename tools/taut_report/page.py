"""report.html: one file that needs neither network nor scripts. It is valid XML as well, so that
XML tools can check it."""
import math
from xml.sax.saxutils import escape

import figures
from labels import clean, number

STYLE = """\
body { font: 15px/1.5 Helvetica, Arial, sans-serif; max-width: 56rem; margin: 2rem auto;
  padding: 0 1rem; color: #1a1a1a; background: #ffffff }
h1 { font-size: 1.6rem; margin-bottom: 0 }
h2 { font-size: 1.2rem; margin-top: 2.5rem; border-bottom: 1px solid #dedede }
figure { margin: 1rem 0 } svg { max-width: 100%; height: auto }
.soft { color: #5c5c5c } .wide { overflow-x: auto }
.bad { color: #b84a00 }
table { border-collapse: collapse; font-size: 0.85rem; margin: 0.5rem 0 }
th, td { padding: 0.15rem 0.7rem; text-align: right; white-space: nowrap;
  border-bottom: 1px solid #dedede }
tbody th, table.facts td { text-align: left; font-weight: normal }
table.facts td { white-space: normal }
pre { overflow-x: auto; padding: 0.8rem; background: #f4f4f4; font-size: 0.8rem }
@media screen and (prefers-color-scheme: dark) {
  body { color: #ececec; background: #17191c } .soft { color: #a8adb3 }
  .bad { color: #f07f2c } pre { background: #24282d }
  h2, th, td { border-color: #34393f }
}
"""

KINDS = {"unknown": "not measured", "found": "found", "grows": "energy always grows",
         "beyond": "none found"}
REASONS = {"runs": "too few stable runs", "rounding": "errors are of rounding",
           "solver": "errors are of the implicit solver",
           "irregular": "errors fall at no steady rate"}


def text(value):
    """Text escaped for HTML."""
    return escape(clean(value), {'"': "&quot;"})


def cell(value, digits, unit=""):
    """A number in a table."""
    return f"<td>{number(value, digits)}{unit}</td>" if math.isfinite(value) else "<td>–</td>"


def table(headings, rows):
    """`rows` are pairs of a name and its cells."""
    return ('<div class="wide"><table>\n<thead><tr>'
            + "".join(f"<th>{heading}</th>" for heading in headings)
            + "</tr></thead>\n<tbody>\n"
            + "".join(f"<tr><th>{text(name)}</th>{''.join(cells)}</tr>\n" for name, cells in rows)
            + "</tbody></table></div>\n")


# ---- The tables below figures

def limits_table(study):
    """The table of the largest stable steps."""
    rows = [(row.integrator, (
        "<td>every step</td>" if row.unconditional else cell(row.predicted, 5, " s"),
        cell(row.measured, 5, " s"), cell(row.measured / row.predicted, 4),
        cell(row.growth, 3, " /s"), f"<td>{KINDS.get(row.kind) or text(figures.limit_text(row))}</td>", f"<td>{row.runs}</td>"))
        for row in study.limits]
    return table(("", "predicted", "measured", "ratio", "growth", "verdict", "runs"), rows)


def drift_table(study):
    """The table of the drift, one column per step."""
    each = [row.dt for row in study.of(study.drift, study.integrators[0])]
    rows = [(name, ('<td class="bad">unstable</td>' if row.verdict == "unstable"
                    else cell(row.drift, 3) for row in study.of(study.drift, name)))
            for name in study.integrators]
    return table(("drift, 1/s", *(f"{number(dt, 3)} s" for dt in each)), rows)


def accuracy_table(study):
    """The table of orders, and of the cost of reaching an error."""
    rows = []
    for row in study.order:
        cells = [cell(row.order, 3) if row.reason is None
                 else f"<td>no signal: {REASONS.get(row.reason, text(row.reason))}</td>"]
        for error in (1e-2, 1e-4, 1e-6):
            run = study.cheapest(row.integrator, error)
            cells.append(f"<td>{run.evaluations}</td><td>{number(run.seconds, 3)} s</td>" if run
                         else "<td>–</td><td>–</td>")
        rows.append((row.integrator, cells))
    return table(("", "order", "evaluations for 10⁻²", "time", "for 10⁻⁴", "time", "for 10⁻⁶",
                  "time"), rows)


def frequency_table(study):
    """The table of frequency errors, one column per step."""
    each = [row.y for row in study.of(study.frequency, study.integrators[0])]
    rows = [(name, (cell(100 * (row.ratio - 1), 3, "%")
                    for row in study.of(study.frequency, name))) for name in study.integrators]
    return table(("ω dt", *(number(y, 3) for y in each)), rows)


TABLES = {"limits": limits_table, "drift": drift_table, "work_precision": accuracy_table,
          "frequency": frequency_table}


# ---- Text around the figures

def undecided(study, limit):
    """The same if the runs are too short to tell between which steps the limit lies."""
    low, high = number(limit.stable, 4), number(limit.unstable, 4)
    if not math.isfinite(limit.unstable):
        if study.dt <= limit.stable:
            return f", which is <strong>stable</strong>: nothing grows at longer steps than {low} s either."
        return ", of which runs do not show whether it is stable: nothing grows at any step."
    if study.dt >= limit.unstable:
        return (f', which is <strong class="bad">unstable</strong>: the limit is below {high} s.')
    if study.dt <= limit.stable:
        return f", which is <strong>stable</strong>: the limit is between {low} and {high} s."
    interval = f"between {low} and" if math.isfinite(limit.stable) else "below"
    return (f", of which runs are too short to decide whether it is stable: the limit is {interval} "
            f"{high} s.")


def verdict(study):
    """Whether the scene's own step is stable."""
    limit = next((row for row in study.limits if row.integrator == study.integrator), None)
    sentence = (f"<p>The scene takes steps of <strong>{number(study.dt, 4)} s</strong> with "
                f"{text(study.integrator)}")
    if limit is None or limit.kind == "unknown":
        sentence += ", whose limit has not been measured."
    elif limit.kind == "grows":
        sentence += (', under which <strong class="bad">the energy grows at every step</strong>, '
                     "the smaller the slower.")
    elif limit.kind == "beyond":
        sentence += ", of which no step was found to be unstable."
    elif limit.kind == "undecided":
        sentence += undecided(study, limit)
    elif study.dt < limit.measured:
        sentence += (f", which is <strong>stable</strong>: the limit is {number(limit.measured, 4)} s, "
                     f"{number(limit.measured / study.dt, 3)} times as much.")
    else:
        sentence += (', which is <strong class="bad">unstable</strong>: the limit is '
                     f"{number(limit.measured, 4)} s.")
    sentence += "</p>\n"
    if not study.complete:
        sentence += '<p class="bad">The study ended early: what is missing was not measured.</p>\n'
    return sentence


def facts(study):
    """Settings, machine and version."""
    settings = study.settings
    fastest = "fastest oscillation" if study.sharp else "fastest oscillation, at the most"
    runs = "runs, shortened to keep to the budget" if study.shortened else "runs"
    start = ("small random velocities, since nothing moves by itself" if study.at_rest
             else "the scene's own start")
    rows = (
        ("system", f"nodes: {study.nodes}, springs: {study.springs}, faces: {study.faces}"),
        (fastest, f"{number(study.omega, 6)} rad/s"),
        ("symplectic Euler is predicted to be stable up to", f"{number(study.unit, 6)} s"),
        ("the scene's own duration", f"{number(study.duration, 6)} s"),
        (runs, f"{number(study.window, 6)} s"),
        ("they start from", start),
        ("energies are relative to", f"{number(study.available, 6)} J"),
        ("integrators", settings["integrators"]), ("map", settings["map"]),
        ("budget", f"{number(settings['budget'], 6)} s"),
        ("runs at the same time", str(settings["threads"])), ("kernel", settings["kernel"]),
        ("instruction set", settings["isa"]), ("it took", f"{number(study.seconds, 6)} s"),
        ("machine", study.machine or "unknown"), ("taut", study.version))
    return ('<h2>Settings</h2>\n<table class="facts"><tbody>\n'
            + "".join(f"<tr><th>{text(name)}</th><td>{text(value)}</td></tr>\n"
                      for name, value in rows) + "</tbody></table>\n")


def make(study, parts):
    """The page; `parts` are pairs of a figure and its SVG."""
    page = ("<!DOCTYPE html>\n<!-- taut: the report of taut stability. -->\n"
            '<html xmlns="http://www.w3.org/1999/xhtml" lang="en">\n<head>\n'
            '<meta charset="utf-8"/>\n<meta name="viewport" content="width=device-width"/>\n'
            '<meta name="color-scheme" content="light dark"/>\n'
            f"<title>{text(study.name)}: stability</title>\n<style>\n{STYLE}{figures.STYLE}"
            f"</style>\n</head>\n<body>\n<h1>{text(study.title or study.name)}</h1>\n"
            f'<p class="soft">How integrators fare on {text(study.scene)}</p>\n')
    page += verdict(study)
    for figure, part in parts:
        page += (f'<h2>{figure.title}</h2>\n<p class="soft">{text(figure.shows)}</p>\n<figure>\n'
                 f"{part}</figure>\n")
        if figure.name in TABLES:
            page += TABLES[figure.name](study)
    page += facts(study)
    page += ('<h2>Scene</h2>\n<p class="soft">With everything that was set on the command line.</p>'
             f"\n<pre>{text(study.resolved_scene)}</pre>\n</body>\n</html>\n")
    return page
