// Modules of ours that are fetched when they are first needed, by their address or their path under
// explorer/. What the page's scripts hold (explorer/web/script_bundles.py) stands in one table;
// where nothing is bundled a module is a script of its own.

/** @type {Map<string, any>} */
const table = /** @type {any} */ (globalThis).tfeModules ??= new Map();
// A page of its own, saved or in a notebook, has no address of ours.
const ROOT = /^.*?\/ui\/[^/]+\//.exec(import.meta.url ?? "")?.[0] ?? "";

const pathOf = (address) => address.replace(/^.*?\/ui\/[^/]+\//, "").replace(/#.*$/, "");

/** The address of a file of ours. */
export const addressOf = (path) => ROOT + path;

/** What a module exports. @param {string} address its address, or its path under explorer/ */
export async function load(address) {
  const path = pathOf(address);
  if (!table.size) return import(ROOT + path);
  if (!table.has(path)) await import(`${ROOT}scripts/later/${path}`);
  return table.get(path);
}
