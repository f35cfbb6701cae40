"""Extensions of matplotlib's SVG: an accessible name, colours for dark pages, and a form for use
inside an HTML page with other figures."""
import re
from xml.sax.saxutils import quoteattr

OPENING = '<?xml version="1.0" encoding="UTF-8"?>\n<!-- taut: a figure of taut stability. -->\n'


def dark_style(colours):
    """A style sheet in which shapes of the colours, pairs of light and dark, follow the reader's
    preference: matplotlib writes colours into style attributes, where selectors find them."""
    rules = "".join(f'[style*="fill: {light}"] {{ fill: {dark} !important }} '
                    f'[style*="stroke: {light}"] {{ stroke: {dark} !important }}\n'
                    for light, dark in colours)
    return "@media screen and (prefers-color-scheme: dark) {\n" + rules + "}\n"


def _element(text, label):
    """The <svg> element without metadata, with a label."""
    text = text[text.index("<svg"):].strip()
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    return text.replace("<svg", f'<svg role="img" aria-label={quoteattr(label)}', 1)


def as_file(text, label, style):
    """As a separate file."""
    element = _element(text, label)
    end = element.index(">") + 1
    return f"{OPENING}{element[:end]}\n <style>\n{style}</style>{element[end:]}\n"


def in_page(text, label, prefix):
    """As a part of a page. All ids begin with `prefix`, so that each occurs once in the page."""
    element = _element(text, label)
    element = re.sub(r'( id="|href="#|url\(#)', lambda found: found[0] + prefix + "-", element)
    return element + "\n"
