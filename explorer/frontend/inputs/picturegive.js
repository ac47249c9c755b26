// A picture or a file of another kind that a visitor brings, chosen, dropped or pasted, and how the
// server reads it.

import { unpack } from "../lib/arrays.js";
import { filled } from "../lib/lang.js";
import { megabytes, TEXT } from "./picturewords.js";

/**
 * Hears of files: those of the chooser, dropped on the form, pasted anywhere on the page.
 * @param {{form: HTMLElement, chooser: HTMLInputElement, type?: string, mine?: () => boolean,
 * onFile: (file: File | undefined) => void, onOver: (yes: boolean) => void}} how
 *   type: how the type of a file begins that may be pasted. mine: is what is dropped or pasted
 *   meant for this? onFile: undefined where what was dropped is no file. onOver: a file hangs over
 *   the form
 */
export function bringing({ form, chooser, type = "image/", mine = () => true, onFile, onOver }) {
  chooser.addEventListener("change", () => {
    const [file] = chooser.files;
    chooser.value = ""; // the same file may be chosen again
    if (file) onFile(file);
  });
  let inside = 0; // dragenter and dragleave of children come in pairs
  const over = (count) => {
    inside = count;
    form.classList.toggle("is-over", inside > 0);
    onOver(inside > 0);
  };
  const brings = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  form.addEventListener(
    "dragenter",
    (event) => brings(event) && (event.preventDefault(), over(inside + 1)),
  );
  form.addEventListener("dragleave", (event) => brings(event) && over(Math.max(0, inside - 1)));
  form.addEventListener("dragover", (event) => {
    if (!brings(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
  });
  form.addEventListener("drop", (event) => {
    if (!brings(event)) return;
    event.preventDefault();
    over(0);
    if (mine()) onFile(event.dataTransfer.files[0]);
  });
  document.addEventListener("paste", (event) => {
    const file = [...(event.clipboardData?.files ?? [])].find((each) => each.type.startsWith(type));
    if (!file || !form.isConnected || !mine()) return;
    event.preventDefault();
    onFile(file);
  });
}

/** Why a file is not even sent, or null. most: bytes. */
export function unfit(file, most) {
  if (!file) return TEXT.noFile;
  return file.size > most
    ? filled(TEXT.heavy, { mb: megabytes(file.size), most: megabytes(most).replace(".0", "") })
    : null;
}

/** What the server makes of a file, or {error}. unread: said where it did not arrive. */
export async function sent(file, address, signal, unread) {
  try {
    const answer = await fetch(new URL(address, location.origin), {
      method: "POST",
      body: file,
      signal,
    });
    const told = await answer.json().catch(() => ({}));
    return answer.ok ? told : { error: told.error ?? unread };
  } catch {
    return { error: unread };
  }
}

/** The same of a picture: {levels, notice} or {error}. */
export async function read(file, address, signal) {
  const told = await sent(file, address, signal, TEXT.unread);
  if (told.error || !told.levels) return { error: told.error ?? TEXT.unread };
  return { levels: Uint8Array.from((await unpack(told.levels)).data), notice: told.notice };
}
