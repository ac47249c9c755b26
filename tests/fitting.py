"""Whether all that stands on a page can be read and used: it fits its place, is large enough, and
axe finds nothing wrong."""

from __future__ import annotations

from collections.abc import Sequence

from axe_playwright_python.base import AXE_SCRIPT
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Frame, Page

# Everything within an element that is cut off, leaves its picture, is too small to read (11 px) or
# to press (24 px, or more where asked).
MISFITS = """([within, least]) => {
  const found = [];
  const say = (what, node) => found.push(`${what}: ${node.outerHTML.slice(0, 150)}`);
  for (const node of document.querySelectorAll(`${within} *`)) {
    if (!node.checkVisibility({ visibilityProperty: true, opacityProperty: true })
        || node.closest(".tfe-unseen")) continue;
    const box = node.getBoundingClientRect(), style = getComputedStyle(node);
    if (!box.width || !box.height) continue;
    if ([...node.childNodes].some((one) => one.nodeType === Node.TEXT_NODE
        && one.textContent.trim())) {
      if (node instanceof SVGElement) {
        const picture = node.closest("svg:not(svg svg)"), room = picture.getBoundingClientRect();
        const out = box.left < room.left - 2 || box.right > room.right + 2 || box.top < room.top - 2
            || box.bottom > room.bottom + 2;
        if (out && !picture.closest(".js-plotly-plot")) say("outside its picture", node);
        if (box.height < 11 && box.width < 11) say("too small to read", node);
      } else {
        if (parseFloat(style.fontSize) < 11) say("too small to read", node);
        const cut = style.overflowX === "hidden" && style.textOverflow !== "ellipsis"
            && node.scrollWidth > node.clientWidth + 2;
        if (cut) say("cut off", node);
      }
    }
    const pressed = "button, a[href], [role=button], [role=tab], "
        + "input:not([type=hidden], [type=checkbox], [type=radio]), select, textarea";
    if (node.matches(pressed) && !node.matches("p a, li a, td a, dd a")
        && style.position !== "absolute" && !node.closest("[inert]")) {
      const need = node.matches("button:not(.tfe-export), select, input, textarea") ? least : 24;
      const [wide, high] = [box.width, box.height].map(Math.round);
      if (Math.min(box.width, box.height) < need - 0.1)
        say(`too small to press, ${wide} × ${high} px`, node);
    }
  }
  return found;
}"""


def scrolls_sideways(page: Page) -> int:
    """How many pixels of the page lie beyond its right edge."""
    beyond: int = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    return max(0, beyond)


def misfits(page: Page, within: str = "body", press: int = 24) -> list[str]:
    """Every part of the page, within an element, that cannot be read or pressed well: what is wrong
    with it, and its beginning.

    press: pixels that a control needs on each side.
    """
    found: list[str] = page.evaluate(MISFITS, [within, press])
    return found


def figures_stand(page: Page) -> None:
    """Looks once at every figure that is shown, since none is drawn before it comes near what is
    seen, and waits until all stand."""
    for figure in page.locator("[data-plot=waits]:visible").element_handles():
        figure.evaluate("(node) => node.scrollIntoView({ block: 'center' })")
        page.wait_for_function(
            "(node) => node.dataset.plot === 'stands' || !node.isConnected", arg=figure
        )
    page.evaluate("scrollTo(0, 0)")


# Read once by a page, not at every question. Of text in a plot axe takes another colour than the
# one it has, and cannot say what lies behind it, after a long search.
AXE = Axe(f"""if (!window.axe) {{
  {AXE_SCRIPT}
  axe.configure({{ rules: [{{ id: "color-contrast",
      selector: "*:not(.js-plotly-plot svg *)" }}] }});
}}""")
STILL = (
    "() => document.getAnimations().every((one) => !(one instanceof CSSTransition) || one.playState"
    " !== 'running')"
)


def refused_by_axe(
    page: Page | Frame, within: str | None = None, only: Sequence[str] = ()
) -> list[tuple[str, list[str]]]:
    """What axe finds wrong, of any severity: (rule, the beginnings of the first three parts that
    break it). only: by these rules."""
    page.wait_for_function(STILL)  # what fades has another contrast on its way
    # axe is in no frame of the page, so none is asked: a frame without an origin would have it warn
    # of that. Nor does it read each style sheet once more, as it would for one rule about screens
    # that are turned, which no page of ours forbids.
    asked = {
        "resultTypes": ["violations"],
        "iframes": False,
        "preload": False,
        **({"runOnly": list(only)} if only else {}),
    }
    found = AXE.run(page, context=within, options=asked).response["violations"]
    return [(one["id"], [node["html"][:150] for node in one["nodes"][:3]]) for one in found]


def assert_fits(page: Page, within: str, press: int = 24) -> None:
    """All of the above; a bar that is used with a finger has controls of 44 pixels."""
    assert scrolls_sideways(page) == 0
    found = misfits(page, within, press)
    assert not found, found
    assert refused_by_axe(page, within) == []
