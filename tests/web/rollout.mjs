// Rollouts of a module: rollout.mjs MODULE PLAN. The plan has calls [function, inputs, options], whose results are printed as JSON,
// or their errors. Each result is also compared with that of single steps.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [, , module, plan] = process.argv;
const { load } = await import(pathToFileURL(module));
const robot = await load();

function byStep(name, given, { last = false, per_step = [] } = {})
{
    const { inputs, outputs, call } = robot[name].prepared();
    const each = ["tau", ...per_step], rows = [];
    for (const [key, value] of Object.entries(given))
        if (!each.includes(key))
            inputs[key].set([value].flat(Infinity));
    for (let k = 0; k < given.tau.length; ++k) {
        for (const key of each)
            inputs[key].set([given[key][k]].flat(Infinity));
        call();
        rows.push(Object.values(outputs).map((array) => Array.from(array)));
        inputs.q.set(outputs.q_next);
        inputs.v.set(outputs.v_next);
    }
    return rows[0].map((_, k) => (last ? rows.at(-1)[k] : rows.flatMap((row) => row[k])));
}

const printed = JSON.parse(readFileSync(plan)).map(([name, given, options]) => {
    try {
        const found = robot[name].rollout(given, options);
        const lists = Object.fromEntries(Object.entries(found).map(([key, array]) => [key, Array.from(array)]));
        assert.deepEqual(Object.values(lists), byStep(name, given, options));
        return lists;
    } catch (error) {
        assert.ok(error instanceof TypeError, error.stack);
        return error.message;
    }
});
console.log(JSON.stringify(printed));
