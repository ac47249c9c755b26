// What is painted is painted one after another. The picture that somebody acts on is painted in the very next frame,
// and the frame after it stays free, so that it is seen, and the next key is heard, before the others come as the
// frames have time.

const TIME = 8; // ms of a frame after which what still waits is left for a later one

const due = new Set(); // functions that paint
let first = null; // the one that comes before all others
let [frame, free] = [0, false]; // free: the frame to come is, unless somebody goes on acting

function turn() {
  frame = 0;
  const [begin, acted, rests] = [performance.now(), first, free];
  [first, free] = [null, acted !== null];
  const all = acted ? [acted, ...[...due].filter((paint) => paint !== acted)] : [...due];
  const now = acted && !rests ? [acted] : rests && !acted ? [] : all;
  const least = acted ? 2 : 1; // while somebody goes on acting the others come all the same
  try {
    for (const [done, paint] of now.entries()) {
      if (done >= least && performance.now() - begin > TIME) break;
      due.delete(paint);
      paint();
    }
  } finally {
    if (due.size) frame ||= requestAnimationFrame(turn);
  }
}

/** Paints in a frame to come, once however often it is asked for. acted: somebody acts on this picture. */
export function inTurn(paint, acted = false) {
  due.add(paint);
  if (acted) first = paint;
  frame ||= requestAnimationFrame(turn);
}
