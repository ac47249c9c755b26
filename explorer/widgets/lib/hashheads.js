// Layers × heads as small pictures: the buckets of the sequence as coloured strips, one tab stop, and how many pairs share one.

import { el } from "./dom.js";
import { share } from "./hashnumbers.js";
import { TEXT } from "./hashwords.js";
import { t } from "./lang.js";
import { fit } from "./raster.js";

const TALL = 22; // px of a strip picture

/** @param {HTMLElement} root @param {{pick: (layer: number, head: number) => void}} how layer and head from 0 */
export function headsOf(root, { pick }) {
  let built = "";
  let tiles = [];

  function build({ layers, heads }) {
    tiles = [];
    root.replaceChildren(
      ...Array.from({ length: layers }, (_, layer) =>
        el(
          "div",
          { class: "tfe-hashing-layer" },
          Array.from({ length: heads }, (__, head) => {
            const canvas = el("canvas", { "aria-hidden": "true" });
            const name = el("span", { class: "tfe-hashing-headname", text: `${layer + 1}·${head + 1}` });
            const count = el("span", { class: "tfe-hashing-headcount" });
            const node = el("button", { type: "button", class: "tfe-hashing-tile", "data-head": `${layer + 1}.${head + 1}`, onclick: () => pick(layer, head) }, el("span", { class: "tfe-hashing-tiletext" }, name, count), canvas);
            tiles.push({ node, canvas, count, layer, head });
            return node;
          }),
        ),
      ),
    );
  }

  return {
    draw({ run, model, layer, head, shown, colors, theme }) {
      const key = [model.key, model.layers, model.heads].join();
      if (key !== built) {
        built = key;
        build(model);
      }
      const focused = tiles.some(({ node }) => node === document.activeElement);
      for (const tile of tiles) {
        const here = tile.layer === layer && tile.head === head;
        tile.node.setAttribute("aria-pressed", String(here));
        tile.node.tabIndex = here ? 0 : -1;
        if (here && focused) tile.node.focus();
        const { buckets } = model.rounded(tile.layer, tile.head)[shown];
        const where = `${tile.layer + 1}·${tile.head + 1}`;
        const used = new Set(buckets).size;
        const same = run.word ? share(run.copies, buckets) : 0;
        const said = run.word ? `${same}/${run.word}` : `${used}/${model.kinds}`;
        if (tile.count.textContent !== said) tile.count.textContent = said;
        tile.node.setAttribute("aria-label", run.word ? t(TEXT.head, { head: where, n: same, of: run.word }) : t(TEXT.headText, { head: where, n: used, of: model.kinds }));
        const width = tile.node.clientWidth - 12;
        const painted = [run.query, model.key, shown, theme, width].join();
        if (width <= 0 || tile.canvas.dataset.painted === painted) continue;
        tile.canvas.dataset.painted = painted;
        const pen = fit(tile.canvas, width, TALL);
        const columns = run.word ? run.word + 1 : run.length;
        const rows = run.word ? 2 : 1;
        const tall = (TALL - (rows - 1) * 2) / rows;
        for (let i = 0; i < run.length; i += 1) {
          const second = run.word && i > run.word;
          const c = second ? i - run.word : i;
          pen.fillStyle = colors.bucket(buckets[i]).flat;
          pen.fillRect((width * c) / columns, second ? tall + 2 : 0, Math.max(0.5, width / columns - (width / columns > 4 ? 0.6 : 0)), tall);
        }
      }
    },
  };
}
