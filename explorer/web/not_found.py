"""The page of an address at which nothing is: a sentence in both languages, and the way home.

It repeats nothing of the address.
"""

from __future__ import annotations

from collections.abc import Mapping

from explorer.figures.theme import DARK, LIGHT
from explorer.gradio_adapter.document import ICON

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action"
    " 'none'; frame-ancestors 'none'"
)
NOTHING = "There is nothing at this address."  # to whom asks for no page
USED = ("paper", "panel", "line", "ink", "ink2", "accent", "on-accent", "focus")


def _write_tokens(colours: Mapping[str, str]) -> str:
    return "".join(f"--{name}:{colours[name]};" for name in USED)


PAGE = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8" />\
<meta name="viewport" content="width=device-width, initial-scale=1" />
<title>Nothing is here · Transformer family explorer</title><link rel="icon" href="{ICON}" />
<style>
:root{{color-scheme:light dark;{_write_tokens(LIGHT)}}}
@media (prefers-color-scheme: dark){{:root{{{_write_tokens(DARK)}}}}}
body{{margin:0;min-height:100vh;display:grid;place-items:center;\
background:var(--paper);color:var(--ink);
font:16px/24px system-ui,"Noto Sans CJK SC",sans-serif}}
main{{margin:12px;padding:24px 32px;max-width:560px;background:var(--panel);\
border:1px solid var(--line);border-radius:10px}}
h1{{margin:0;font-size:20px;line-height:28px}}h1+p{{margin:8px 0 16px;color:var(--ink2)}}\
section+section{{margin-top:24px}}p{{margin:0}}
a{{display:inline-block;padding:5px 14px;border-radius:6px;background:var(--accent);\
color:var(--on-accent);text-decoration:none}}
a:focus-visible{{outline:3px solid var(--focus);outline-offset:2px}}
</style></head><body><main>
<section><h1>There is nothing at this address.</h1>\
<p>The link may have been cut or mistyped. All labs are on the family map.</p>
<p><a href="/?lang=en">To the family map</a></p></section>
<section lang="zh-CN"><h1>这个地址没有内容。</h1>\
<p>链接可能被截断或输错了。所有实验都在家族图上。</p>
<p><a href="/?lang=zh">回到家族图</a></p></section>
</main></body></html>
"""
