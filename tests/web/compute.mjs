// Computes every function of a module on the states of a folder: compute.mjs MODULE FOLDER. NAME.in has the inputs of the
// states of plan.json, one state after the other, and NAME.out gets the outputs.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [, , module, folder] = process.argv;
const { load } = await import(pathToFileURL(module));
const robot = await load(undefined, { room: 1 << 26 });
const Numbers = robot.manifest.real === "float" ? Float32Array : Float64Array;

for (const [name, count] of Object.entries(JSON.parse(readFileSync(`${folder}/plan.json`)))) {
    const bytes = readFileSync(`${folder}/${name}.in`);
    const given = new Numbers(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
    const { inputs, outputs, call } = robot.functions[name].prepared();
    const size = Object.values(outputs).reduce((sum, array) => sum + array.length, 0);
    const found = new Numbers(count * size);
    let from = 0, to = 0;
    for (let state = 0; state < count; ++state) {
        for (const array of Object.values(inputs)) {
            array.set(given.subarray(from, from + array.length));
            from += array.length;
        }
        for (const array of Object.values(outputs))
            array.fill(NaN);
        call();
        for (const array of Object.values(outputs)) {
            found.set(array, to);
            to += array.length;
        }
    }
    writeFileSync(`${folder}/${name}.out`, found);
}
