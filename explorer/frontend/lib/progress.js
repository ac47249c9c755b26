// The exercises that this browser has seen solved, and the code that says so. They are kept in the
// browser alone; where storage is denied, the open page remembers them.

const NAME = "tfe-exercises";
const CHECK = 36 ** 4; // values of the code's last four letters
let own = {}; // what the open page remembers

/**
 * The solved exercises and the day of each.
 * @returns {Record<string, string>} "translation.verb" -> "2026-11-29"
 */
export function solvedExercises() {
  try {
    const found = JSON.parse(localStorage.getItem(NAME) ?? "{}");
    return { ...(typeof found === "object" ? found : {}), ...own };
  } catch {
    return { ...own };
  }
}

/** Remembers that an exercise was solved today, unless it was solved before. */
export function recordExercise(id, day = new Date().toISOString().slice(0, 10)) {
  const solved = { [id]: day, ...solvedExercises() };
  own = { ...solved };
  try {
    localStorage.setItem(NAME, JSON.stringify(solved));
  } catch {
    // denied: the page remembers
  }
}

/** A number below CHECK that changes with every letter of a text. */
function checkNumber(text) {
  let sum = 7;
  for (const letter of text) sum = (sum * 131 + letter.codePointAt(0)) % CHECK;
  return sum;
}

/**
 * The code of what is solved: one bit an exercise, and four letters that tell a mistyped code and
 * another version of the exercises.
 * @param {string[]} ids of all exercises, in their order
 * @param {(id: string) => boolean} isSolved
 */
export function writeCode(ids, isSolved) {
  const bits = ids.map((id) => (isSolved(id) ? "1" : "0")).join("");
  const check = checkNumber(`${bits} ${ids.join(" ")}`).toString(36).padStart(4, "0");
  return `${BigInt(`0b1${bits}`).toString(36)}-${check}`.toUpperCase();
}

/**
 * The ids that a code calls solved, or null where it is no code of these exercises.
 * @param {string} code
 * @param {string[]} ids
 */
export function readCode(code, ids) {
  const found = /^([0-9a-z]{1,60})-[0-9a-z]{4}$/.exec(code.trim().toLowerCase());
  if (!found) return null;
  let number = 0n;
  for (const letter of found[1]) number = number * 36n + BigInt(parseInt(letter, 36));
  const bits = number.toString(2).slice(1);
  if (bits.length !== ids.length) return null;
  const solved = ids.filter((_, place) => bits[place] === "1");
  const same = writeCode(ids, (id) => solved.includes(id)) === code.trim().toUpperCase();
  return same ? solved : null;
}
