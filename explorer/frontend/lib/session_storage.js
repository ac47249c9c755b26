// What this tab remembers while it is open. A frame of another site may be denied its storage; then
// the page itself remembers.

const own = new Map();

/** What was kept under this name, or null. */
export function kept(name) {
  try {
    return own.get(name) ?? sessionStorage.getItem(name);
  } catch {
    return own.get(name) ?? null;
  }
}

export function keep(name, value) {
  try {
    sessionStorage.setItem(name, value);
    own.delete(name);
  } catch {
    own.set(name, value); // denied, or too large
  }
}
