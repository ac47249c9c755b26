"""The stream on which a page hears of its events, in a browser that hears of one thing later than
of another."""

from __future__ import annotations

import random

from playwright.sync_api import Page, expect

from explorer.labs import LABS
from tests.browser.visiting import finished

LAB = next(lab for lab in LABS if lab.slug == "translation")

# A busy browser: it hears a second late that its stream of answers has ended. window.ended: such a
# word is on its way to the page.
LATE = """
const fetched = window.fetch;
window.ended = 0;
window.fetch = async (...asked) => {
    const answer = await fetched(...asked);
    if (!String(asked[0]?.url ?? asked[0]).includes("/queue/data")) return answer;
    const slow = new TransformStream({
        async transform(chunk, passed) {
            if (new TextDecoder().decode(chunk).includes("close_stream")) {
                window.ended += 1;
                await new Promise((on) => setTimeout(on, 1000));
            }
            passed.enqueue(chunk);
        },
    });
    return new Response(answer.body.pipeThrough(slow),
        { status: answer.status, headers: answer.headers });
};
"""
# From the second event on, the word that the server has taken it comes after its whole answer.
BEHIND = """
const sent = window.fetch;
let joined = 0, completed = 0;
window.fetch = async (...asked) => {
    const answer = await sent(...asked), address = String(asked[0]?.url ?? asked[0]);
    if (address.includes("/queue/data")) {
        const counted = new TransformStream({
            transform(chunk, passed) {
                completed += new TextDecoder().decode(chunk)
                    .split('"msg":"process_completed"').length - 1;
                passed.enqueue(chunk);
            },
        });
        return new Response(answer.body.pipeThrough(counted),
            { status: answer.status, headers: answer.headers });
    }
    if (address.includes("/queue/join") && (joined += 1) > 1)
        for (let tries = 0; completed < joined && tries < 250; tries += 1)
            await new Promise((on) => setTimeout(on, 20));
    return answer;
};
"""


def test_a_late_browser_is_answered(page_watch: Page, site: str) -> None:
    page = page_watch
    page.add_init_script(BEHIND)
    page.goto(site + LAB.path)
    for text, said in ((f"{random.random()} dogs", ""), ("A dog runs.", "Hund")):
        page.locator(".tfe-ask-story").fill(text)
        page.locator(".tfe-ask-story").press("Enter")
        finished(page)
        expect(page.locator(".tfe-pieces-line")).to_contain_text(said)


def test_requests_at_the_end_are_answered(page_watch: Page, site: str) -> None:
    """The page takes its old stream for an open one until it has heard, and would open no other and
    wait for ever."""
    page_watch.add_init_script(LATE)
    page_watch.goto(site + LAB.path)
    for count in range(2):
        page_watch.locator(".tfe-ask-story").fill(f"{random.random()} dogs")
        page_watch.locator(".tfe-ask-story").press("Enter")
        finished(page_watch)
        page_watch.wait_for_function("(count) => window.ended > count", arg=count)
