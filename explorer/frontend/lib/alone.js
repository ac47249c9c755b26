// A picture that stands by itself, on a saved page or in a notebook: no server, no address of its
// own. What is looked at is remembered here.

import { board } from "./board.js";
import { bringRowsBy } from "./exact_rows.js";
import { looking, pictureOf } from "./selection.js";

/**
 * Draws a picture. Resolves when its value is read.
 * @param {HTMLElement} root
 * @param {any} module what the picture's module exports
 * @param {{texts: any, value: any, seen: [string, string][], fresh?: boolean, ask?: (question: any)
 *   => Promise<any>}} how seen: what is looked at, as in an address; fresh: the value comes from
 *   the program, and not from a page that has drawn it already; ask: asks a notebook's kernel,
 *   {rows: address} -> {bytes} or {look: detail} -> {value}
 */
export async function standAlone(root, module, { texts, value, seen, fresh = false, ask }) {
  const kept = new Map(seen);
  const store = {
    get: (key) => kept.get(key) ?? null,
    set(patch) {
      for (const [key, text] of Object.entries(patch)) {
        if (text === null) kept.delete(key);
        else kept.set(key, String(text));
      }
    },
  };
  const picture = pictureOf(module);
  let asked = "null"; // what the kernel was asked for what is looked at
  async function wonder() {
    const detail = JSON.stringify(picture.lacks?.(stand.run, stand.look) ?? null);
    if (!ask || asked === detail) return;
    asked = detail;
    if (detail === "null") return;
    await picture.takes(stand.run, (await ask({ look: JSON.parse(detail) })).value);
    asked = "null";
    stand.update();
  }
  const stand = board(root, picture, { texts, store, drawn: wonder });
  if (ask) bringRowsBy(async (address) => (await ask({ rows: address })).bytes);
  const how = { texts, away: true, again: () => stand.update() };
  const read = (one) => picture.read(one, how);
  let run = await read(value);
  if (run && fresh && !ask) {
    // A picture then knows that nothing more can be fetched.
    const { look } = looking(picture, run, store.get);
    run = await read(picture.kept?.(run, value) ?? { ...value, ...picture.keeps?.(run, look) });
  }
  stand.show(run);
}
