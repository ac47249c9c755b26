// The order in which a picture is made, and what each pixel of it may look at: the browser's side
// of drawn.py's Layout.

/**
 * @param {any} pattern one of the value's patterns
 * @param {ArrayLike<number>} made the pixel of each position
 * @returns the layout with its questions; positions are places in the order of making, pixels are
 * row · columns + column
 */
export function layout(pattern, made) {
  const { rows, columns, channels, starts, memory } = pattern;
  const length = starts.at(-1);
  const size = rows * columns;
  const order = Int32Array.from(made);
  const blockOf = new Int32Array(length);
  for (let b = 0; b + 1 < starts.length; b += 1) blockOf.fill(b, starts[b], starts[b + 1]);
  const first = new Int32Array(size).fill(-1); // of each pixel, its first position
  for (let p = length - 1; p >= 0; p -= 1) first[order[p]] = p;
  const inMemory = memory.map((runs) => { // runs of positions: first, stop, first, stop, …
    const all = [];
    for (let i = 0; i < runs.length; i += 2) {
      for (let p = runs[i]; p < runs[i + 1]; p += 1) all.push(p);
    }
    return Int32Array.from(all);
  });
  const [kept, reached] = [new Map(), new Map()];

  /**
   * The query block and the memory block of a position as masks over pixels, and the box around
   * both.
   */
  function blocks(position) {
    const b = blockOf[position];
    if (!kept.has(b)) {
      const [query, seen] = [new Uint8Array(size), new Uint8Array(size)];
      for (let p = starts[b]; p < starts[b + 1]; p += 1) query[order[p]] = 1;
      for (const p of inMemory[b]) seen[order[p]] = 1;
      let [top, left, bottom, right] = [rows, columns, 0, 0];
      for (let i = 0; i < size; i += 1) {
        if (!query[i] && !seen[i]) continue;
        const [row, column] = [Math.floor(i / columns), i % columns];
        [top, left] = [Math.min(top, row), Math.min(left, column)];
        [bottom, right] = [Math.max(bottom, row + 1), Math.max(right, column + 1)];
      }
      kept.set(b, {
        query,
        memory: seen,
        box: { top, left, rows: bottom - top, columns: right - left },
      });
    }
    return kept.get(b);
  }

  /** The positions a query may look at; entry k is slot k of its weights. */
  function keys(position) {
    const b = blockOf[position];
    const own = Array.from({ length: position - starts[b] + 1 }, (_, i) => starts[b] + i);
    return Int32Array.of(...inMemory[b], ...own);
  }

  /**
   * For each pixel the number of layers through which a position knows of it (0: not at all), and
   * how many levels it knows per layer.
   */
  function reach(position, layers) {
    const name = `${position} ${layers}`;
    if (!reached.has(name)) {
      if (reached.size > 64) reached.clear();
      reached.set(name, known(position, layers));
    }
    return reached.get(name);
  }

  function known(position, layers) {
    const through = new Uint8Array(length);
    const counts = [];
    let seen = 0;
    const take = (p, layer) => {
      if (through[p]) return;
      through[p] = layer;
      if (p > 0) seen += 1; // position 0 carries what stands before the picture: no pixel
    };
    for (const p of keys(position)) take(p, 1);
    counts.push(seen);
    for (let layer = 2; layer <= layers; layer += 1) {
      const last = new Int32Array(starts.length - 1).fill(-1); // of each block, the last position known so far
      for (let p = 0; p <= position; p += 1) if (through[p]) last[blockOf[p]] = p;
      for (let b = 0; b < last.length; b += 1) {
        if (last[b] < 0) continue;
        for (const p of inMemory[b]) take(p, layer);
        for (let p = starts[b]; p <= last[b]; p += 1) take(p, layer);
      }
      counts.push(seen);
    }
    const pixels = new Uint8Array(size);
    for (let p = 0; p < length; p += 1) {
      if (through[p] && (!pixels[order[p]] || through[p] < pixels[order[p]])) {
        pixels[order[p]] = through[p];
      }
    }
    return { pixels, counts };
  }

  return {
    rows,
    columns,
    channels,
    length,
    size,
    order,
    starts,
    first,
    blocks,
    keys,
    reach,
    /** How many levels made earlier a query looks at in one layer. */
    seen: (position) => reach(position, 1).counts[0],
    row: (position) => Math.floor(order[position] / columns),
    column: (position) => order[position] % columns,
  };
}

/**
 * The weights of one query by pixel: channels of a pixel are added up.
 * @param {ReturnType<typeof layout>} it
 * @param {ArrayLike<number>} row weights by slot
 * @returns {{pixels: Float32Array, most: number, where: number}} NaN where the query may not look;
 * the largest, and its pixel
 */
export function byPixel(it, position, row) {
  const pixels = new Float32Array(it.size).fill(Number.NaN);
  it.keys(position).forEach((key, k) => {
    const pixel = it.order[key];
    pixels[pixel] = (pixels[pixel] === pixels[pixel] ? pixels[pixel] : 0) + row[k];
  });
  let where = it.order[position];
  for (let i = 0; i < it.size; i += 1) if (pixels[i] > pixels[where]) where = i;
  return { pixels, most: pixels[where], where };
}
