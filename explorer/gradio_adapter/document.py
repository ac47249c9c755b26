"""Gradio's page, made ours.

It gets its own title and icon, no address of another host, and the colour scheme before the first
paint.

Gradio writes one HTML document per route. A template of our own would have to follow each of its
versions, so the document is rewritten on its way out, once per route. A part that is missing raises
an error at start and leaves no silent gap.
"""

from __future__ import annotations

import base64
import hashlib
import html
import io
import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw

WRITTEN_FOR = "6.31.0"  # the version of Gradio

# The host of the request for Gradio's document, which Gradio writes into it.
HOST = "explorer.invalid"


def _draw_icon() -> str:
    """Return the icon of the browser's tab, a map of attention, as a data address.

    It is made of pixels, because an SVG would be read anew with every change of the address.
    """
    mark = Image.new("RGBA", (64, 64))
    pen = ImageDraw.Draw(mark)
    pen.rounded_rectangle((0, 0, 63, 63), 12, "#00336B")
    for row, column in itertools.product(range(3), repeat=2):
        if abs(row - column) < 2:
            x, y = 12 + 14 * column, 12 + 14 * row
            pen.rectangle((x, y, x + 11, y + 11), "#EBD65C" if row == column else "#6A7C64")
    held = io.BytesIO()
    mark.save(held, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(held.getvalue()).decode()


ICON = _draw_icon()

# A frame of another site may be denied its storage.
_KEPT = (
    "const asked=new URL(location.href).searchParams,kept=(key)=>{try{return"
    " sessionStorage.getItem(key)}catch{return null}};"
)
# This runs before anything is painted: the language of the document, whether a link is still to be
# opened and, once body exists, light or dark. Gradio sets its own scheme when it mounts, unless the
# element names one; so a choice made by hand is written there.
BEFORE = (
    "{" + _KEPT + 'const now=asked.get("lang")??kept("tfe-lang")??navigator.language;'
    'document.documentElement.lang=now.toLowerCase().startsWith("zh")?"zh-CN":"en";'
    # A link or a step shows another run than the page was written with (lib/stored.js).
    'const how=["lang","lecture","figure","__theme"];'
    'if([...asked.keys()].some((key)=>!key.startsWith("_")&&!how.includes(key)))'
    'document.documentElement.classList.add("tfe-opening")}'
)
SCHEME = (
    "{"
    + _KEPT
    + 'const hand=asked.get("__theme")??kept("tfe-theme"),chosen=hand==="dark"||hand==="light";'
    'document.body.classList.toggle("dark",chosen?hand==="dark":matchMedia("(prefers-color-scheme:'
    ' dark)").matches);'
    'if(chosen)document.querySelector("gradio-app").setAttribute("theme_mode",hand)}'
)
RAIL = "tfe-with-rail"  # the class of a frame that has a rail


def write_scheme_script(page: str) -> str:
    """Return the script at the beginning of the body: light or dark, and room for a rail.

    The rail has a class, since "body:has(…)" would make the browser compute every style anew
    whenever anything is added to the page.

    page: the page's components.
    """
    return SCHEME + ('document.body.classList.add("tfe-railed");' if RAIL in page else "")


@dataclass(frozen=True)
class Facts:
    """The head of one page: its title and description.

    Both are in English; the page's script writes the visitor's language.
    """

    title: str
    description: str
    head: str = ""  # further elements, as HTML
    plain: str = ""  # the text where scripts do not run, as HTML


def rewrite_document(
    document: str,
    facts: Facts,
    styles: Sequence[str],
    scripts: Sequence[str],
    gradio: Sequence[str] = (),
) -> str:
    """Return Gradio's document with our head.

    Raise ValueError where Gradio's document no longer has a part that is replaced here.

    styles: addresses of stylesheets to load before the first paint; the last one holds Gradio's
    own.
    scripts: addresses of the scripts that hold the page's modules, which are fetched at once; the
    last one gives them (script_bundles.py).
    gradio: names of the files that its script fetches for this page. Its scripts are fetched at
    once, its styles no more.
    """
    document = re.sub(
        r'<meta\s+(?:property="og:|name="twitter:)[^>]*?/>\s*', "", document, flags=re.S
    )
    document = _replace_once(r'<link rel="manifest"[^>]*/>\s*', "", document, "link to a manifest")
    # The loader of iframeResizer, a script for pages that embed this one and ask its height; ours
    # fills the frame it is given.
    document = _replace_once(
        r"<script>\s*\(\(\) => \{(?:(?!</script>).)*?iframeResizer(?:(?!</script>).)*</script>\s*",
        "",
        document,
        "loader of iframeResizer",
    )
    # Gradio's script makes this the origin of the page, so it must hold under every host name.
    document = _replace_once(
        rf'"root":\s*"http://{re.escape(HOST)}"', '"root":"/"', document, "address of its root"
    )
    plain = f"<noscript>{facts.plain}</noscript>" if facts.plain else ""
    document = _replace_once(
        r"(<gradio-app\b.*?</gradio-app>)",
        lambda found: f"{plain}{found[1]}<script>{write_scheme_script(document)}</script>",
        document,
        "gradio-app element",
    )
    if any(name.endswith(".css") for name in gradio):
        document = _replace_once(
            r'<link rel="stylesheet" crossorigin href="\./assets/[\w-]+\.css">',
            "",
            document,
            "stylesheet",
        )
    document = _replace_once(
        r'(<meta charset="utf-8" />)',
        lambda found: found[1] + _write_head(document, facts, styles, scripts, gradio),
        document,
        "charset",
    )
    # with the line ends that the browser reads, so that the digests of the scripts hold
    return document.replace("\r\n", "\n")


def digest_scripts(document: str) -> list[str]:
    """Return the names of a document's scripts in a Content-Security-Policy.

    Each is ``'sha256-…'``, in order, without repetition.
    """
    inside = [
        body
        for attributes, body in re.findall(r"<script\b([^>]*)>(.*?)</script>", document, flags=re.S)
        if "src=" not in attributes
    ]
    return list(
        dict.fromkeys(
            f"'sha256-{base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()}'"
            for body in inside
        )
    )


def _write_head(
    document: str,
    facts: Facts,
    styles: Sequence[str],
    scripts: Sequence[str],
    gradio: Sequence[str],
) -> str:
    joined = (
        [
            f'<script>window.tfeLoad=(address)=>import("{scripts[-1]}")'
            ".then(({load})=>load(address))</script>"
        ]
        if scripts
        else []
    )
    theme = re.search(r'"theme_hash":\s*"(\w+)"', document)
    own = [f"/theme.css?v={theme[1]}"] if theme else []
    return "".join(
        [
            f"<script>{BEFORE}</script>",
            *joined,
            f"<title>{html.escape(facts.title)}</title>",
            f'<meta name="description" content="{html.escape(facts.description)}" />',
            facts.head,
            f'<link rel="icon" href="{ICON}" />',
            *(f'<link rel="stylesheet" href="{address}" />' for address in styles),
            *(f'<link rel="preload" as="style" href="{address}" />' for address in own),
            *(f'<link rel="modulepreload" href="{address}" />' for address in scripts),
            *(
                f'<link rel="modulepreload" href="/assets/{name}" />'
                for name in gradio
                if name.endswith(".js")
            ),
            # Gradio's script fetches no style that a link names already, and browsers fetch no link
            # that is disabled.
            *(
                f'<link rel="stylesheet" href="./assets/{name}" disabled />'
                for name in gradio
                if name.endswith(".css")
            ),
        ]
    )


def _replace_once(
    pattern: str, replacement: str | Callable[[re.Match[str]], str], text: str, what: str
) -> str:
    found, count = re.subn(pattern, replacement, text, count=1, flags=re.S)
    if count != 1:
        raise ValueError(
            f"Gradio's document has no {what}: this version of Gradio needs another rewriting"
        )
    return found
