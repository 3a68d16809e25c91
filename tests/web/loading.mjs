// Where modules come from: loading.mjs FOLDER OTHER, where OTHER is the module of another robot.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";

const [, , folder, other] = process.argv;
const { load } = await import(pathToFileURL(`${folder}/toy.mjs`));
const path = `${folder}/toy.wasm`, bytes = readFileSync(path);
const server = createServer((request, response) => {
    response.statusCode = request.url === "/toy.wasm" ? 200 : 404;
    response.end(bytes);
}).listen(0);
const place = `http://localhost:${server.address().port}`;

for (const source of [
    path, pathToFileURL(path), String(pathToFileURL(path)), bytes, new Uint8Array(bytes), new Uint8Array(bytes).buffer,
    await WebAssembly.compile(bytes), new Response(bytes), fetch(`${place}/toy.wasm`), `${place}/toy.wasm`,
    new URL(`${place}/toy.wasm`), undefined,
])
    assert.equal((await load(source)).torque({ q: [0, 0], v: [0, 0] }).tau.length, 2);

const missing = (url) => ({ message: `${url}: was not found (404); pass the address or the bytes of toy.wasm to load` });
await assert.rejects(load(`${place}/none.wasm`), missing(`${place}/none.wasm`));
await assert.rejects(load(fetch(`${place}/none.wasm`)), missing(`${place}/none.wasm`));
await assert.rejects(load(`${folder}/none.wasm`), /ENOENT.*none.wasm/);
await assert.rejects(load(new Uint8Array(8)), WebAssembly.CompileError);
await assert.rejects(load(other), { message: "toy: the module has no function toy_mix; pass the toy.wasm of the same folder to load" });
await assert.rejects(load(5), TypeError);
server.close();

// Memory does not grow after loading, so that arrays stay what they are.
for (const room of [-1, 0.5, "1", null])
    await assert.rejects(load(path, { room }), { name: "TypeError", message: `toy: room takes a number of bytes, not ${room}` });
const small = await load(path, { room: 64 });
let arrays = 0;
const full = /^toy: the memory is full; load it with more room, such as \{room: \d+\}$/;
assert.throws(() => { for (;; ++arrays) small.array(1000).fill(arrays); }, { name: "RangeError", message: full });
assert.ok(arrays < 9);
assert.deepEqual(small.torque({ q: [0, 0], v: [0, 0] }).tau, (await load()).torque({ q: [0, 0], v: [0, 0] }).tau);
const large = await load(path, { room: 1 << 26 });
assert.equal(large.array((1 << 26) / 8 - 1000).length, (1 << 26) / 8 - 1000);
console.log("as expected");
