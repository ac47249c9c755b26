// What is locked in a text that is read and written on, when another run takes its place.

/**
 * What of a lock tells nothing any more: all of it for another text, the character where something else was written up to there.
 * @param {any} before the last finished run, or null  @param {any} next the run that takes its place  @param {string | null} pos of the address
 * @returns {{pos?: null, head?: null}} a patch of the address
 */
export function outlived(before, next, pos) {
  const [was, is] = [before, next].map((run) => Array.from(run?.models[0]?.text ?? ""));
  const same = (count) => was.slice(0, count).join("") === is.slice(0, count).join("");
  if (!before || before.given !== next.given || !same(Math.min(before.given, is.length))) return { pos: null, head: null };
  const elsewhere = (pos ?? "").split(",").some((one) => Number(one) >= before.given && !same(Number(one) + 1));
  return next.state !== "running" && elsewhere ? { pos: null } : {};
}
