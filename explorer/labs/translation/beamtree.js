// What the beam panel reads off a tree of hypotheses: how the search ends with one length penalty,
// and what became of every node. The same rules as models/translation/search_records.py; the tests
// hold the two together.

export const FATES = { kept: 0, finished: 1, passed: 2 };

/** The nodes from the first piece to this one. */
function pathTo(parent, node) {
  const out = [];
  for (let n = node; n > 0; n = parent[n]) out.unshift(n);
  return out;
}

/**
 * What became of the greedy translation by step t: {kind: "place" | "outranked" | "fell" | "live",
 * at}.
 */
function followGreedy({ step, fate, held }, nodes, t, alpha) {
  const node = nodes.filter((each) => step[each] <= t).at(-1);
  if (node === undefined) return { kind: "fell", at: 1 };
  if (fate[node] === FATES.passed) return { kind: "fell", at: step[node] };
  if (fate[node] === FATES.finished) {
    const place = held(t, alpha).indexOf(node);
    return place < 0 ? { kind: "outranked", at: step[node] } : { kind: "place", at: place + 1 };
  }
  return step[node] < t ? { kind: "fell", at: step[node] + 1 } : { kind: "live", at: t };
}

/**
 * @param {{parent: number[], step: number[], rank: number[], fate: number[], total: number[], logp:
 * number[], stop: (number | null)[], beam: number, limit: number}} value
 *   one entry per node, node 0 the root, parents before children, the nodes of a step by rank
 */
export function tree(value) {
  const { parent, step, fate, total, logp, beam, limit } = value;
  const steps = step[step.length - 1];
  /** Did the limit end this hypothesis? Then only the stop token may follow, even if unlikely. */
  const isCut = (node) =>
    fate[node] === FATES.finished && step[node] >= limit && logp[node] < Math.log(0.5);
  const at = Array.from({ length: steps + 1 }, () => []);
  step.forEach((t, node) => at[t].push(node));
  const children = parent.map(() => []);
  parent.forEach((p, node) => p >= 0 && children[p].push(node));

  /** log p / ((5 + |Y|) / 6)^α (Wu et al., 2016, eq. 14). */
  const score = (node, alpha) => total[node] / ((5 + step[node]) / 6) ** alpha;

  /** The finished hypotheses that the search holds after step t, best first. */
  function held(t, alpha) {
    const all = [];
    for (let s = 1; s <= t; s += 1) {
      all.push(...at[s].filter((node) => fate[node] === FATES.finished));
    }
    return all.sort((a, b) => score(b, alpha) - score(a, alpha)).slice(0, beam);
  }

  /**
   * How the search ends: its last step, after which no kept hypothesis can rank any more, however
   * cheaply it grew to the limit; and the hypotheses it returns.
   */
  function outcome(alpha) {
    for (let t = 1; t <= steps; t += 1) {
      const list = held(t, alpha);
      const best = Math.max(
        -Infinity,
        ...at[t].filter((node) => fate[node] === FATES.kept)
          .map((node) => total[node] / ((5 + limit) / 6) ** alpha),
      );
      if (best === -Infinity || (list.length === beam && best <= score(list[beam - 1], alpha))) {
        return { last: t, ranking: list };
      }
    }
    return { last: steps, ranking: held(steps, alpha) };
  }

  const path = (node) => pathTo(parent, node);

  /**
   * What has become of every node after step t: "live", "held" (a finished one behind it is among
   * the best), "outranked", "fell"; and when.
   * @returns {{what: string[], when: number[]}}
   */
  function state(t, alpha) {
    const list = new Set(held(t, alpha));
    const what = new Array(step.length).fill("");
    const when = new Array(step.length).fill(0);
    for (let node = step.length - 1; node >= 0; node -= 1) {
      if (step[node] > t) continue;
      if (fate[node] === FATES.passed) [what[node], when[node]] = ["fell", step[node]];
      else if (fate[node] === FATES.finished) {
        [what[node], when[node]] = [list.has(node) ? "held" : "outranked", step[node]];
      } else {
        const below = children[node].filter((child) =>
          step[child] <= t && fate[child] !== FATES.passed
        );
        const best = ["live", "held", "outranked"].find((kind) =>
          below.some((child) => what[child] === kind)
        );
        if (step[node] === t) [what[node], when[node]] = ["live", t];
        else if (best) [what[node], when[node]] = [best, t];
        else {[what[node], when[node]] = [
            "fell",
            Math.max(step[node] + 1, ...below.map((child) => when[child])),
          ];}
      }
    }
    return { what, when };
  }

  /**
   * How many hypotheses there were after step t, by what became of them: every line that was ranked
   * counts once, at its end.
   */
  function count(t, alpha) {
    const { what } = state(t, alpha);
    const out = { all: 0, fell: 0, finished: 0, cut: 0, live: 0 };
    for (let node = 1; node < step.length; node += 1) {
      if (step[node] > t || children[node].some((child) => step[child] <= t)) continue;
      out.all += 1;
      if (what[node] === "fell") out.fell += 1;
      else if (what[node] === "live") out.live += 1;
      else if (isCut(node)) out.cut += 1;
      else out.finished += 1;
    }
    return out;
  }

  const greedy = (nodes, t, alpha) => followGreedy({ step, fate, held }, nodes, t, alpha);

  return { at, children, steps, score, isCut, held, outcome, path, state, count, greedy };
}
