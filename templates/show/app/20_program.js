// The generated functions, as WebAssembly or JavaScript: `call(name, inputs)` gives the outputs by name.

const functions = {};

/** Reserves memory for the arguments of every function, and makes views of it. */
async function loadWebAssembly() {
  const { instance } = await WebAssembly.instantiate(await unpacked("b-program"), {});
  const { memory, __heap_base: base } = instance.exports;
  let top = (base.value + 15) & ~15;
  const placed = (argument) => {
    const length = argument.shape.reduce((product, size) => product * size, 1), address = top;
    top += 8 * length;
    return { ...argument, length, address };
  };
  for (const [name, facts] of Object.entries(manifest.functions))
    functions[name] = {
      inputs: facts.inputs.map(placed), outputs: facts.outputs.map(placed), code: instance.exports[facts.symbol],
    };
  const lacking = top - memory.buffer.byteLength;
  if (lacking > 0) memory.grow(Math.ceil(lacking / 65536));
  for (const found of Object.values(functions)) {
    const all = [...found.inputs, ...found.outputs];
    for (const argument of all) argument.view = new Float64Array(memory.buffer, argument.address, argument.length);
    found.addresses = all.map((argument) => argument.address);
    found.results = Object.fromEntries(found.outputs.map((output) => [output.name, output.view]));
  }
}

/** Loads the functions as a module of JavaScript, which has the arrays of its arguments itself. */
async function loadJavaScript() {
  const address = URL.createObjectURL(new Blob([await unpacked("b-program")], { type: "text/javascript" }));
  const robot = await (await import(address)).load();
  URL.revokeObjectURL(address);
  for (const [name, facts] of Object.entries(manifest.functions)) {
    const { inputs, outputs, call: code } = robot.functions[name].prepared();
    const viewed = (argument, views) => ({ ...argument, view: views[argument.name] });
    functions[name] = {
      inputs: facts.inputs.map((input) => viewed(input, inputs)), outputs: facts.outputs, code, addresses: [],
      results: outputs,
    };
  }
}

await (data.engine === "WebAssembly" ? loadWebAssembly() : loadJavaScript());

const has = (name) => name in functions;

/** The outputs of a function; they are views that its next call overwrites. Inputs may be arrays or numbers;
 * an input that is not given has its default value, or 0. */
function call(name, inputs) {
  const found = functions[name];
  for (const input of found.inputs) {
    const value = inputs[input.name] ?? input.default ?? 0;
    typeof value === "number" ? input.view.fill(value) : input.view.set(value);
  }
  found.code(...found.addresses);
  return found.results;
}

/** The first output of a function. */
const first = (name, inputs) => Object.values(call(name, inputs))[0];
