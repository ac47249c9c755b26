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

/** “the” (4) */
export const placed = (text, position) => (lang() === "zh" ? `“${text}”（${position}）` : `“${text}” (${position})`);
/** “e” (412) */
export const named = (code, position) => placed(sign(code), position);

export const bits = (nats) => (nats / Math.LN2).toFixed(2);
/** A whole number, −1 with the sign that numbers have on the page. */
export const signed = (n) => String(n).replace("-", "−");
/** A weight as it is read: two digits, more where two would say nothing. */
export const weight = (w) => (w >= 0.0095 || w === 0 ? w.toFixed(2) : w < 0.0001 ? "<0.0001" : w.toFixed(4));
export const percent = (w) => (w > 0 && w < 0.01 ? t({ en: "less than 1 %",
  zh: "不到 1 %" }) : `${Math.round(100 * w)} %`);
/** A number as it stands in a table or a file. */
export const rounded = (value, digits = 4) => Math.round(value * 10 ** digits) / 10 ** digits;
export const count = (n) => Math.round(n).toLocaleString("en");

/** The least of some numbers times a power of ten that is not below a value: the end of an axis. */
export function ceiling(value, steps = [1, 2, 5, 10]) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-6)));
  return steps.map((one) => Number((one * power).toPrecision(2))).find((one) => one >= value * 0.999);
}

/** An exponent: "⁻⁷". */
export const raised = (n) => String(n).replace("-", "⁻").replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);

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
