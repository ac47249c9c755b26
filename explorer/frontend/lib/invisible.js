// What a sentence names because nobody sees it: controls and marks of direction, as
// models/explaining/errors.py names them.

const NAMES = {
  0: "null",
  9: "tab",
  10: "line feed",
  11: "vertical tab",
  12: "form feed",
  13: "carriage return",
  27: "escape",
  127: "delete",
  0x85: "next line",
  0xad: "soft hyphen",
  0x61c: "arabic letter mark",
  0x200b: "zero width space",
  0x200c: "zero width non-joiner",
  0x200d: "zero width joiner",
  0x200e: "left-to-right mark",
  0x200f: "right-to-left mark",
  0x2028: "line separator",
  0x2029: "paragraph separator",
  0x202a: "left-to-right embedding",
  0x202b: "right-to-left embedding",
  0x202c: "pop directional formatting",
  0x202d: "left-to-right override",
  0x202e: "right-to-left override",
  0x2060: "word joiner",
  0x2066: "left-to-right isolate",
  0x2067: "right-to-left isolate",
  0x2068: "first strong isolate",
  0x2069: "pop directional isolate",
  0xfeff: "zero width no-break space",
};
const INVISIBLE =
  /(?<!\p{So}\ufe0f?|\p{Sk})\u200d|\u200d(?!\p{So})|(?![\t\n\u200d])[\p{C}\p{Zl}\p{Zp}]/gu;

/** A text that a sentence can hold: ⟨U+202E right-to-left override⟩ in place of the mark itself. */
export const nameInvisible = (text) =>
  text.replace(INVISIBLE, (letter) => {
    const code = letter.codePointAt(0);
    const number = code.toString(16).toUpperCase().padStart(4, "0");
    return `⟨U+${[number, NAMES[code]].filter(Boolean).join(" ")}⟩`;
  });
