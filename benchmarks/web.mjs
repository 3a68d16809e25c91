// Times calls of a module: web.mjs MODULE FOLDER STATES WARM SECONDS NAME...
//
// FOLDER/NAME.in has the inputs of all states, one state after the other. Each kind of call is made for WARM seconds, and then timed
// for SECONDS. Prints the smallest times of prepared and of plain calls, in ns, as JSON.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [, , module, folder, states, warm, seconds, ...names] = process.argv;
const { load } = await import(pathToFileURL(module));
const robot = await load(undefined, { room: 1 << 26 });

// The mean time of a call in the fastest repetition of many, each of a fraction of a millisecond. Engines compile JavaScript after
// many calls, in another thread, so that the first seconds do not tell.
function least(call)
{
    let count = 1, best = Infinity;
    const time = () => {
        const begin = performance.now();
        for (let k = 0; k < count; ++k)
            call(k % states);
        return performance.now() - begin;
    };
    for (const end = performance.now() + 1e3 * warm; performance.now() < end;)
        time();
    while (time() < 0.2)
        count *= 2;
    for (const end = performance.now() + 1e3 * seconds; performance.now() < end;)
        best = Math.min(best, time() / count);
    return 1e6 * best;
}

const times = {};
for (const name of names) {
    const bytes = readFileSync(`${folder}/${name}.in`), compute = robot.functions[name];
    const given = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
    let from = 0;
    const prepared = Array.from({ length: states }, () => {
        const call = compute.prepared();
        for (const array of Object.values(call.inputs)) {
            array.set(given.subarray(from, from + array.length));
            from += array.length;
        }
        return call;
    });
    const inputs = prepared.map((call) => Object.fromEntries(
        Object.entries(call.inputs).map(([argument, array]) => [argument, Float64Array.from(array)])));
    times[name] = { prepared: least((k) => prepared[k].call()), plain: least((k) => compute(inputs[k])) };
}
console.log(JSON.stringify(times));
