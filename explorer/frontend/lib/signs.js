// Characters, costs and weights as a sentence writes them.

import { lang, t } from "./lang.js";

const SIGNS = new Map([[32, "␣"], [10, "⏎"], [9, "⇥"], [0xa0, "⍽"], [0x3000, "␣"]]);

/** A character in a label: white space by its sign, what has no shape of its own by its number. */
export function sign(code) {
  if (SIGNS.has(code)) return SIGNS.get(code);
  const char = String.fromCodePoint(code);
  if (/[\p{C}\p{Z}]/u.test(char)) return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  return /\p{M}/u.test(char) ? `◌${char}` : char; // a mark stands on a carrier
}

const TOKENS = {
  " ": "␣",
  "\n": "⏎",
  "\r": "␍",
  "\t": "⇥",
  "\u00a0": "⍽",
  "\u200b": "⟨U+200B⟩",
  "\ufeff": "⟨U+FEFF⟩",
  "\u007f": "␡",
};

/**
 * A token as it is drawn: white space, control characters and marks that turn directions around
 * become visible.
 */
export function shown(text) {
  if (text === "") return "∅";
  return text.replace(/(?![\u200c\u200d])[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (sign) => {
    if (TOKENS[sign]) return TOKENS[sign];
    const code = sign.codePointAt(0);
    return code < 32
      ? String.fromCharCode(0x2400 + code)
      : `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/** Does a text hold a letter or a digit, and is it no sign of the model's own such as </s>? */
export const isWord = (text) => /[\p{L}\p{N}]/u.test(text) && !/^<[^<>]*>$/.test(text);

/** A token in a sentence: what it is and where, in the colour of its role. */
export const NAME = (text, index, role) => ({ text: `“${shown(text)}” (${signed(index)})`, role });

/** The same of a letter; "" where there is none. */
export const mark = (letter) => (letter ? sign(letter.codePointAt(0)) : "");

/** “the” (4) */
export const placed = (
  text,
  position,
) => (lang() === "zh" ? `“${text}”（${position}）` : `“${text}” (${position})`);
/** “e” (412) */
export const named = (code, position) => placed(sign(code), position);

export const bits = (nats) => (nats / Math.LN2).toFixed(2);
/** A whole number, −1 with the sign that numbers have on the page. */
export const signed = (n) => String(n).replace("-", "−");
/** A number, "–" where there is none; what rounds to nothing has no sign. */
export const number = (
  value,
  digits = 2,
) => (Number.isFinite(value)
  ? value.toFixed(digits).replace(/^-(?=[0.]*$)/, "").replace("-", "−")
  : "–");

/** With its sign. */
export const plus = (value, digits = 2) =>
  (/[1-9]/.test(value.toFixed(digits)) && value > 0 ? "+" : "") +
  number(value, digits);
/** 0.794 -> ".79", 1 -> "1.0": what fits a cell. */
export const short = (value) => (value >= 0.995 ? "1.0" : value.toFixed(2).slice(1));
/** A weight as it is read: two digits, more where two would say nothing. */
export const weight = (
  w,
) => (w >= 0.0095 || w === 0 ? w.toFixed(2) : w < 0.0001 ? "<0.0001" : w.toFixed(4));
export const percent = (
  w,
) => (w > 0 && w < 0.01 ? t({ en: "less than 1 %", zh: "不到 1 %" }) : `${Math.round(100 * w)} %`);
/** A number as it stands in a table or a file. */
export const rounded = (value, digits = 4) => Math.round(value * 10 ** digits) / 10 ** digits;
export const count = (n) => Math.round(n).toLocaleString("en");

/** The least of some numbers times a power of ten that is not below a value: the end of an axis. */
export function ceiling(value, steps = [1, 2, 5, 10]) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-6)));
  return steps.map((one) => Number((one * power).toPrecision(2))).find((one) =>
    one >= value * 0.999
  );
}

/** An exponent: "⁻⁷". */
export const raised = (n) =>
  String(n).replace("-", "⁻").replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);

/** "4.8 × 10⁻⁷"; "0" for none. */
export function tiny(value) {
  const [digits, exponent] = value.toExponential(1).split("e");
  return value === 0 ? "0" : `${digits}\u00a0×\u00a010${raised(Number(exponent))}`;
}

/** "3rd" */
export function ordinal(n) {
  if (lang() === "zh") return String(n);
  return `${n}${n % 100 > 10 && n % 100 < 14 ? "th" : (["th", "st", "nd", "rd"][n % 10] ?? "th")}`;
}
