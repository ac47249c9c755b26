// What this tab remembers while it is open. A frame of another site may be denied its storage; then the page itself
// remembers.

const own = new Map();

/** What was kept under this name, or null. */
export function kept(name) {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return own.get(name) ?? null;
  }
}

export function keep(name, value) {
  try {
    sessionStorage.setItem(name, value);
  } catch {
    own.set(name, value);
  }
}
