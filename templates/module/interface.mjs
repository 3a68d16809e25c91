// What calls take and return. An engine computes; it has
//   array(size)               a new array of `size` numbers, on which its functions operate
//   temporary(sizes)          such arrays for one call; another call may use the same memory
//   owns(array)               whether its functions operate on this array
//   bound(symbol, arrays)     a function without arguments, which computes with these arrays
function $isArray(given)
{
    return Array.isArray(given) || (ArrayBuffer.isView(given) && given.length !== undefined);
}

function $arrayOf(sizes)
{
    return `an array of ${sizes.join(" x ")}`;
}

// What was given, in words.
function $told(given)
{
    if (!$isArray(given))
        return given === null || given === undefined ? `${given}` : `${typeof given === "object" ? "an" : "a"} ${typeof given}`;
    const sizes = [];
    for (let row = given; $isArray(row); row = row[0])
        sizes.push(row.length);
    return $arrayOf(sizes);
}

// The numbers of an array of this shape, which may be flat or have arrays as rows; undefined for another shape.
function $flat(given, shape, size)
{
    if (!$isArray(given))
        return undefined;
    const [count, ...inner] = shape;
    if (given.length === size && (inner.length === 0 || !$isArray(given[0])))
        return given;
    if (inner.length === 0 || given.length !== count)
        return undefined;
    const rows = Array.from(given, (row) => $flat(row, inner, size / count));
    return rows.includes(undefined) ? undefined : rows.flatMap((row) => Array.from(row));
}

// The error for what was given for an argument.
function $refused(where, { name, shape }, problem)
{
    const takes = shape.length ? `${$arrayOf(shape)} numbers` : "a number";
    return new TypeError(`${where}: ${name} takes ${takes}${problem}`);
}

// Writes what was given for an argument to an array of its numbers.
function $write(where, argument, given, to)
{
    if (given instanceof $Numbers && given.length === to.length) {
        to.set(given);
        return;
    }
    if (typeof given === "number" && to.length === 1 && argument.shape.length < 2) {
        to[0] = given;
        return;
    }
    if (given === undefined)
        throw $refused(where, argument, ", but is missing");
    const numbers = $flat(given, argument.shape, to.length);
    if (numbers === undefined) {
        const told = $told(given);
        throw $refused(where, argument, told === $arrayOf(argument.shape) ? ", but its rows differ" : `, not ${told}`);
    }
    for (let k = 0; k < to.length; ++k)
        if (typeof numbers[k] !== "number")
            throw $refused(where, argument, `, but its element ${k} is ${$told(numbers[k])}`);
    to.set(numbers);
}

function $checkNames(where, known, given)
{
    if (typeof given !== "object" || given === null || $isArray(given))
        throw new TypeError(`${where}: takes one object with its arguments, such as {${known.join(", ")}}`);
    for (const name in given)
        if (!known.includes(name))
            throw new TypeError(`${where}: has no argument ${JSON.stringify(name)}; its arguments are ${known.join(", ")}`);
}

function $size({ shape })
{
    return shape.reduce((product, size) => product * size, 1);
}

// A function of the robot. `shared` has arrays that all functions use, by name.
function $callable(engine, row, shared)
{
    const where = `${$manifest.name}.${row.name}`;
    const { inputs, outputs } = row;
    const all = [...inputs, ...outputs];
    const taken = inputs.filter(({ name }) => !(name in shared)).map(({ name }) => name);
    let arrays, compute;

    const call = (given = {}) => {
        if (compute === undefined) {
            const own = engine.temporary(all.map((argument) => (argument.name in shared ? 0 : $size(argument))));
            arrays = all.map(({ name }, k) => shared[name] ?? own[k]);
            compute = engine.bound(row.symbol, arrays);
        }
        $checkNames(where, taken, given);
        for (let k = 0; k < inputs.length; ++k) {
            const { name } = inputs[k];
            const value = Object.hasOwn(given, name) ? given[name] : undefined;
            if (!(name in shared))
                $write(where, inputs[k], value ?? inputs[k].default, arrays[k]);
        }
        compute();
        const results = {};
        for (let k = 0; k < outputs.length; ++k) {
            const result = arrays[inputs.length + k];
            results[outputs[k].name] = outputs[k].shape.length === 0 ? result[0] : new $Numbers(result);
        }
        return results;
    };

    call.prepared = (given = {}) => {
        const names = all.map(({ name }) => name).filter((name) => !(name in shared));
        $checkNames(`${where}.prepared`, names, given);
        const own = all.map((argument) => $chosen(engine, `${where}.prepared`, argument, shared, given));
        $checkApart(`${where}.prepared`, all, own, inputs.length);
        const named = (some, first) => Object.freeze(Object.fromEntries(some.map(({ name }, k) => [name, own[first + k]])));
        return Object.freeze({
            inputs: named(inputs, 0),
            outputs: named(outputs, inputs.length),
            call: engine.bound(row.symbol, own),
        });
    };

    Object.defineProperty(call, "name", { value: row.name });
    const rollout = row.rolling ? { rollout: $rollout(engine, row, shared) } : {};
    return Object.freeze(Object.assign(call, { summary: row.summary, inputs, outputs, ...rollout }));
}

// The number of rows of a control, which has one for each step.
function $steps(where, { name, shape }, size, given)
{
    const steps = !$isArray(given) ? NaN : $isArray(given[0]) ? given.length : given.length / size;
    if (Number.isInteger(steps) && steps > 0)
        return steps;
    throw $refused(where, { name, shape: ["N", ...shape] }, given === undefined ? ", but is missing" : `, not ${$told(given)}`);
}

// Many steps in one call, each from the state after the one before. `rolling` has the number of inputs that are the state, and
// the places of the control and of the inputs that may have a value for each step, too.
function $rollout(engine, row, shared)
{
    const where = `${$manifest.name}.${row.name}.rollout`;
    const { inputs, outputs, rolling } = row;
    const taken = inputs.filter(({ name }) => !(name in shared)).map(({ name }) => name);
    const control = inputs[rolling.control], further = rolling.further.map((k) => inputs[k].name);
    const names = outputs.map(({ name }, k) => (k < rolling.state ? inputs[k].name : name));

    return (given = {}, { last = false, per_step = [] } = {}) => {
        $checkNames(where, taken, given);
        for (const name of per_step)
            if (!further.includes(name)) {
                const known = further.length ? `choose from: ${further.join(", ")}` : "it has none besides the control";
                throw new TypeError(`${where}: per_step ${JSON.stringify(name)} is no input with a value for each step; ${known}`);
            }
        const steps = $steps(where, control, $size(control), given[control.name]);
        const all = [...inputs, ...outputs];
        const own = engine.temporary(all.map((argument) => (argument.name in shared ? 0 : $size(argument))));
        const arrays = all.map(({ name }, k) => shared[name] ?? own[k]);
        const compute = engine.bound(row.symbol, arrays);
        const values = [];
        inputs.forEach((argument, k) => {
            const { name, shape, default: usual } = argument;
            const value = (Object.hasOwn(given, name) ? given[name] : undefined) ?? usual;
            if (name === control.name || per_step.includes(name)) {
                values.push([arrays[k], new $Numbers(steps * arrays[k].length)]);
                $write(where, { name, shape: [steps, ...shape] }, value, values.at(-1)[1]);
            } else if (!(name in shared))
                $write(where, argument, value, arrays[k]);
        });
        const found = arrays.slice(inputs.length), results = found.map(({ length }) => new $Numbers(last ? length : steps * length));
        for (let step = 0; step < steps; ++step) {
            for (const [array, rows] of values)
                array.set(rows.subarray(step * array.length, (step + 1) * array.length));
            compute();
            for (let k = 0; k < rolling.state; ++k)
                arrays[k].set(found[k]);
            for (let k = 0; k < found.length; ++k)
                results[k].set(found[k], last ? 0 : step * found[k].length);
        }
        return Object.fromEntries(results.map((array, k) => [names[k], array]));
    };
}

// The array of an argument of a prepared call: a shared one, the caller's, or a new one.
function $chosen(engine, where, argument, shared, given)
{
    if (argument.name in shared)
        return shared[argument.name];
    const size = $size(argument);
    if (!Object.hasOwn(given, argument.name)) {
        const array = engine.array(size);
        array.set(argument.default ?? []);
        return array;
    }
    const array = given[argument.name];
    if (!engine.owns(array) || array.length !== size) {
        const takes = `${where}: ${argument.name} takes an array of ${size} numbers`;
        throw new TypeError(`${takes} that array(${size}) or another prepared call has made`);
    }
    return array;
}

function $checkApart(where, all, arrays, first)
{
    for (let k = first; k < arrays.length; ++k)
        arrays.forEach((other, i) => {
            const one = arrays[k];
            const apart = i === k || one.buffer !== other.buffer || one.byteOffset + one.byteLength <= other.byteOffset
                || other.byteOffset + other.byteLength <= one.byteOffset;
            if (!apart)
                throw new TypeError(`${where}: ${all[k].name} and ${all[i].name} have the same memory; results need their own`);
        });
}

function $robot(engine)
{
    const shared = Object.create(null);
    for (const { inputs } of $functions)
        for (const argument of inputs)
            if (argument.kind === "table" && !(argument.name in shared)) {
                shared[argument.name] = engine.array($size(argument));
                shared[argument.name].set(argument.default);
            }
    const functions = Object.fromEntries($functions.map((row) => [row.name, $callable(engine, row, shared)]));
    const { nq, nv, nbodies, neutral, joints, frames, contacts, parameters } = $manifest;
    const facts = {
        manifest: $manifest, name: $manifest.name, nq, nv, nbodies, neutral, frames, contacts, parameters,
        joint_names: joints.map(({ name }) => name),
        functions: Object.freeze(functions),
        array: (size) => {
            if (!Number.isSafeInteger(size) || size < 0)
                throw new TypeError(`${$manifest.name}.array: takes a number of elements, not ${size}`);
            return engine.array(size);
        },
    };
    return Object.freeze(Object.assign(facts, functions));
}
