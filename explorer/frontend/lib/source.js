// Where a file that leaves the page comes from: the lab, its paper, and what was asked. Never the
// address of the machine that serves it.

import { t } from "./lang.js";
import { linkRefusal, read } from "./state.js";

/** @type {{title: any, paper: string, authors: string, year: number, arxiv: string} | null} */
let lab = null;

/** The frame of the page says which lab this is. */
export const from = (here) => {
  lab = here;
};

/**
 * "Translation Transformer · Vaswani et al. (2017), Attention Is All You Need · arXiv 1706.03762"
 */
export function source() {
  if (!lab) return "";
  return [
    t(lab.title),
    `${lab.authors} (${lab.year}), ${lab.paper}`,
    lab.arxiv && `arXiv ${lab.arxiv}`,
  ]
    .filter(Boolean).join(" · ");
}

/**
 * The request and the view as they stand in the address after the "?": typed behind a lab's
 * address, they show this again. Empty where no link holds them.
 */
export function asked() {
  if (linkRefusal()) return "";
  const now = read();
  for (const key of ["lecture", "lang", "__theme"]) now.delete(key);
  return now.toString();
}

/** The last line of a page or a text that leaves: where it comes from and what was asked. */
export const foot = () => [source(), asked()].filter(Boolean).join(" · ?");
