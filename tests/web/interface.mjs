// What calls of a module take, return and refuse: interface.mjs MODULE. The module has the functions of test_interface.py.
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";

const { load } = await import(pathToFileURL(process.argv[2]));
const robot = await load();
const Numbers = robot.manifest.real === "float" ? Float32Array : Float64Array;
const numbers = (...values) => Numbers.from(values);

function refuses(call, message, kind = TypeError)
{
    assert.throws(call, (error) => {
        assert.ok(error instanceof kind, `${error}`);
        assert.equal(error.message, message);
        return true;
    });
}

// facts
assert.deepEqual([robot.name, robot.nq, robot.nv, robot.nbodies], ["toy", 2, 2, 2]);
assert.deepEqual(robot.joint_names, ["hip", "knee"]);
assert.deepEqual([...robot.neutral], [0, 0]);
assert.deepEqual([robot.frames, robot.contacts, robot.parameters], [[], [], []]);
assert.equal(robot.manifest.joints[0].lower, -1.5);
assert.deepEqual(Object.keys(robot.functions), ["mix", "torque"]);
assert.equal(robot.functions.mix, robot.mix);
assert.equal(robot.mix.name, "mix");
assert.deepEqual(robot.mix.inputs.map(({ name, shape }) => [name, shape]), [["A", [2, 3]], ["s", []], ["c", [1]], ["d", [2]]]);
assert.ok(Object.isFrozen(robot));

// numbers, typed arrays, arrays in arrays; sums of s A, of c and of d
const A = [[1, 2, 3], [4, 5, 6]], expected = [2 + 7, 4 + 7, 6 + 7, 8 + 7, 10 + 7, 12 + 7];
for (const given of [A, A.flat(), numbers(...A.flat()), Int8Array.from(A.flat()), A.map((row) => Float32Array.from(row)), [Uint8Array.from(A[0]), A[1]]])
    for (const s of [2, [2], numbers(2), new Float64Array([2])])
        for (const c of [5, [5], numbers(5)]) {
            const { B, total } = robot.mix({ A: given, s, c });
            assert.ok(B instanceof Numbers);
            assert.deepEqual([...B], expected);
            assert.equal(total, 2 * 21);
        }
assert.equal(robot.mix({ A, s: 1, c: 0, d: [10, 0] }).B[0], 1 + 10);
assert.equal(robot.mix({ A, s: 1, c: 0, d: undefined }).B[0], 1 + 2);
assert.ok(Number.isNaN(robot.mix({ A, s: NaN, c: 0 }).total));

// results are copies
const first = robot.mix({ A, s: 2, c: 5 });
robot.mix({ A, s: 0, c: 0 });
assert.deepEqual([...first.B], expected);

// refusals
const needs = "toy.mix: A takes an array of 2 x 3 numbers";
const bad = (given) => () => robot.mix({ A, s: 1, c: 0, ...given });
refuses(bad({ A: undefined }), `${needs}, but is missing`);
refuses(bad({ A: null }), `${needs}, but is missing`);
refuses(bad({ A: 1 }), `${needs}, not a number`);
refuses(bad({ A: "123456" }), `${needs}, not a string`);
refuses(bad({ A: [1, 2] }), `${needs}, not an array of 2`);
refuses(bad({ A: [[1, 2], [3, 4], [5, 6]] }), `${needs}, not an array of 3 x 2`);
refuses(bad({ A: [[1, 2, 3], [4, 5]] }), `${needs}, but its rows differ`);
refuses(bad({ A: [[1, 2, 3], 4] }), `${needs}, but its rows differ`);
refuses(bad({ A: [] }), `${needs}, not an array of 0`);
refuses(bad({ A: [[1, 2, 3], [4, "5", 6]] }), `${needs}, but its element 4 is a string`);
refuses(bad({ A: [1, 2, 3, 4, , 6] }), `${needs}, but its element 4 is undefined`);
refuses(bad({ A: new DataView(new ArrayBuffer(48)) }), `${needs}, not an object`);
refuses(bad({ A: new Float64Array(7) }), `${needs}, not an array of 7`);
refuses(bad({ A: new BigInt64Array(6) }), `${needs}, but its element 0 is a bigint`);
refuses(bad({ s: [1, 2] }), "toy.mix: s takes a number, not an array of 2");
refuses(bad({ s: true }), "toy.mix: s takes a number, not a boolean");
refuses(bad({ d: [1] }), "toy.mix: d takes an array of 2 numbers, not an array of 1");
refuses(bad({ d: 1 }), "toy.mix: d takes an array of 2 numbers, not a number");
refuses(bad({ B: A }), 'toy.mix: has no argument "B"; its arguments are A, s, c, d');
refuses(bad({ "x\n</script>": 1 }), 'toy.mix: has no argument "x\\n</script>"; its arguments are A, s, c, d');
for (const given of [A, 1, null, "A", numbers(1)])
    refuses(() => robot.mix(given), "toy.mix: takes one object with its arguments, such as {A, s, c, d}");
refuses(() => robot.mix(), `${needs}, but is missing`);
refuses(() => robot.array(-1), "toy.array: takes a number of elements, not -1");
refuses(() => robot.array(1.5), "toy.array: takes a number of elements, not 1.5");

// a refused call changes nothing in a prepared one, and prepared calls do not disturb each other
const one = robot.mix.prepared(), other = robot.mix.prepared();
assert.deepEqual([...one.inputs.d], [2, 2]);
one.inputs.A.set(A.flat());
one.inputs.s[0] = 2;
one.inputs.c[0] = 5;
other.call();
robot.mix({ A, s: 1, c: 1 });
one.call();
assert.deepEqual([...one.outputs.B], expected);
assert.deepEqual([...one.outputs.total], [42]);
assert.equal(one.call(), undefined);
assert.ok(Object.isFrozen(one) && Object.isFrozen(one.inputs) && Object.isFrozen(one.outputs));

// arrays that two prepared calls share
const q = robot.array(2), taking = robot.torque.prepared({ q }), same = robot.torque.prepared({ q, v: taking.inputs.v });
q.set([0.1, 0.2]);
taking.inputs.v.set([0.3, 0.4]);
taking.call();
same.call();
assert.deepEqual(taking.outputs.tau, same.outputs.tau);
assert.deepEqual(robot.torque({ q, v: [...taking.inputs.v] }).tau, same.outputs.tau);
assert.equal(taking.inputs.q, q);
const takes = "toy.torque.prepared: q takes an array of 2 numbers that array(2) or another prepared call has made";
for (const given of [robot.array(3), [1, 2], 1, null, robot.manifest.real === "float" ? new Float64Array(2) : new Float32Array(2)])
    refuses(() => robot.torque.prepared({ q: given }), takes);
refuses(() => robot.torque.prepared({ x: q }), 'toy.torque.prepared: has no argument "x"; its arguments are q, v, tau');
refuses(() => robot.torque.prepared({ q, tau: q }), "toy.torque.prepared: tau and q have the same memory; results need their own");
assert.ok(robot.torque.prepared({ q, v: q })); // inputs may be one array

// a second robot has arrays of its own
const second = await load();
second.mix({ A, s: 1, c: 1 });
one.call();
assert.deepEqual([...one.outputs.B], expected);
console.log("as expected");
