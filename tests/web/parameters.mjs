// Parameters of a module: parameters.mjs MODULE, of the double pendulum with its masses as inputs.
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";

const { load } = await import(pathToFileURL(process.argv[2]));
const robot = await load(), other = await load();
const state = { q: [0.3, -0.7], v: [0.1, 0.2], a: [1, 2] };
const double = { p: robot.parameters.map((row) => 2 * row.default) };

assert.deepEqual(robot.parameters.map(({ name, default: value, unit }) => [name, value, unit]), [["mass:upper", 1, "kg"], ["mass:lower", 1, "kg"]]);
const before = robot.rnea(state).tau, prepared = robot.rnea.prepared();
for (const [name, values] of Object.entries(state))
    prepared.inputs[name].set(values);
prepared.call();
assert.deepEqual(prepared.outputs.tau, before);

// all functions follow an update, of this robot alone
const { table } = robot.update(double);
const after = robot.rnea(state).tau;
assert.notDeepEqual(after, before);
prepared.call();
assert.deepEqual(prepared.outputs.tau, after);
assert.deepEqual(prepared.inputs.table, table);
assert.deepEqual(other.rnea(state).tau, before);

// without parameters, those of the description
robot.update();
assert.deepEqual(robot.rnea(state).tau, before);
const update = robot.update.prepared();
update.inputs.p.set(double.p);
update.call();
assert.deepEqual(robot.rnea(state).tau, after);

// the table is no argument
const known = { message: 'double_pendulum.rnea: has no argument "table"; its arguments are q, v, a' };
assert.throws(() => robot.rnea({ ...state, table }), known);
assert.throws(() => robot.rnea.prepared({ table }), /has no argument "table"/);
assert.throws(() => robot.update({ p: [1] }), { message: "double_pendulum.update: p takes an array of 2 numbers, not an array of 1" });
console.log("as expected");
