// What is painted is painted one after another. The picture that somebody acts on is painted in the
// very next frame, alone. The others come as the frames have time once nobody has acted for a
// moment: so the next key is heard first, and what was fetched meanwhile is painted with them, not
// after them.

const TIME = 8; // ms of a frame after which what still waits is left for a later one
const REST = 60; // ms without an act before the others come
const LATE = 200; // ms that they wait at most while somebody goes on acting

const due = new Map(); // functions that paint, and since when they wait
let first = null; // the one that comes before all others
let [frame, acted] = [0, -REST]; // acted: when somebody last did

function turn() {
  frame = 0;
  const begin = performance.now();
  const paint = (one) => {
    due.delete(one);
    one();
  };
  const own = first;
  first = null;
  try {
    if (own) {
      acted = begin;
      paint(own);
    }
    for (const [one, since] of [...due]) {
      if (begin - acted < REST && begin - since < LATE) break;
      paint(one);
      if (performance.now() - begin > TIME) break;
    }
  } finally {
    if (due.size) frame ||= requestAnimationFrame(turn);
  }
}

/**
 * Paints in a frame to come, once however often it is asked for. acted: somebody acts on this
 * picture.
 */
export function inTurn(paint, acted = false) {
  if (!due.has(paint)) due.set(paint, performance.now());
  if (acted) first = paint;
  frame ||= requestAnimationFrame(turn);
}
