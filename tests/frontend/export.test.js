import assert from "node:assert/strict";
import "./page.js";
import { blob, csv, fileName, json, npy, npz, zip } from "../../explorer/frontend/lib/export.js";
import { asked, from, source } from "../../explorer/frontend/lib/source.js";

Deno.test("a table as a spreadsheet reads it", () => {
  assert.equal(csv([["a", 1], ["b", null]]), "\ufeffa,1\r\nb,\r\n");
  assert.equal(csv([['say "x", y']]), '\ufeff"say ""x"", y"\r\n');
  assert.equal(csv([[" a "]]), '\ufeff" a "\r\n');
  assert.equal(csv([[Number.NaN]]), "\ufeff\r\n");
});

Deno.test("no cell is a formula", () => {
  for (const text of ["=1+1", "@SUM(A1)", "+cmd", "-cmd"]) {
    assert.equal(csv([[text]]), `\ufeff'${text}\r\n`);
  }
  assert.equal(csv([["-", "+1.5", "-2"]]), "\ufeff-,+1.5,-2\r\n");
});

const headerOf = (bytes) => new TextDecoder().decode(bytes.subarray(10, 10 + bytes[8]));

Deno.test("arrays in NumPy's format", () => {
  const floats = npy({ shape: [1, 2], data: Float32Array.of(1, 2) });
  assert.deepEqual([...floats.subarray(0, 8)], [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0]);
  assert.match(headerOf(floats), /'descr': '<f4'.*'shape': \(1, 2\)/);
  assert.equal((10 + floats[8]) % 64, 0);
  assert.equal(floats.length, 10 + floats[8] + 8);
  assert.match(headerOf(npy({ shape: [2], data: [1, 2] })), /'<i4'.*\(2,\)/);
  assert.match(headerOf(npy({ shape: [1], data: [0.5] })), /'<f8'/);
  assert.match(headerOf(npy(["ab", "c"])), /'<U2'.*\(2,\)/);
  assert.match(headerOf(npy("🙂")), /'<U1'.*\(\)/);
});

Deno.test("a zip archive with its checksums", async () => {
  const bytes = new Uint8Array(
    await zip({ "a.txt": new TextEncoder().encode("123456789") })
      .arrayBuffer(),
  );
  const view = new DataView(bytes.buffer);
  assert.equal(view.getUint32(0, true), 0x04034b50);
  assert.equal(view.getUint32(14, true), 0xcbf43926); // CRC-32 of "123456789"
  assert.equal(view.getUint32(18, true), 9);
  const end = bytes.length - 22;
  assert.equal(view.getUint32(end, true), 0x06054b50);
  assert.equal(view.getUint16(end + 10, true), 1);
  assert.equal(view.getUint32(view.getUint32(end + 16, true), true), 0x02014b50);
});

Deno.test("arrays say where they come from", async () => {
  from({ title: "Lab", paper: "P", authors: "A", year: 2017, arxiv: "1" });
  assert.equal(source(), "Lab · A (2017), P · arXiv 1");
  const text = new TextDecoder("latin1").decode(await npz({ w: ["x"] }).arrayBuffer());
  assert.ok(text.includes("w.npy") && text.includes("lab_and_paper.npy"));
  assert.ok(!asked().includes("lang="));
});

Deno.test("names and addresses of files", async () => {
  assert.equal(fileName(["cross", "3.5"], "png"), "lab-cross-3.5.png");
  assert.equal(fileName(["a/b", "", "词"], "csv"), "lab-a_b-词.csv");
  assert.equal(fileName(["x".repeat(200)], "png").length, 104);
  assert.equal(await blob("data:text/plain;base64,aGk=").text(), "hi");
  assert.equal(await blob("data:image/svg+xml,%3Csvg/%3E").text(), "<svg/>");
  assert.equal(json("</script>\u2028"), '"\\u003c/script\\u003e\\u2028"');
});
