// The data of the page, and small tools that all parts use.

const $ = (id) => document.getElementById(id);

async function unpacked(id) {
  const raw = Uint8Array.from(atob($(id).textContent), (character) => character.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

if (typeof DecompressionStream === "undefined")
  throw new Error("this browser is too old; take Chrome 80, Firefox 113, Safari 16.4 or a later version");

const data = JSON.parse(new TextDecoder().decode(await unpacked("b-data")));
const manifest = data.manifest;
const bodies = manifest.bodies;
const contacts = manifest.contacts ?? [];
const nq = manifest.nq, nv = manifest.nv;
const floating = manifest.base === "floating";
const totalMass = bodies.reduce((sum, body) => sum + body.mass, 0);
const gravity = Math.hypot(...manifest.gravity) || 1;

/** A new element with attributes or properties, and children. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") made.textContent = value;
    else if (name in made && name !== "style") made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/** A button that stays pressed; `press` is called with whether it is pressed. */
function toggle(text, pressed, press) {
  const button = element("button", { type: "button", text });
  button.setAttribute("aria-pressed", pressed);
  button.onclick = () => press(button.getAttribute("aria-pressed") !== "true", button);
  return button;
}

/** A number with some digits and a real minus. */
function digits(x, count = 4) {
  if (x === 0) return "0";
  const size = Math.abs(x);
  const text = size >= 1e5 || size < 1e-4 ? x.toExponential(Math.max(count - 2, 0)) : String(Number(x.toPrecision(count)));
  return text.replace("-", "−");
}

/** A number with a fixed number of decimals and a real minus, without the sign of zero. */
function decimals(x, count) {
  const text = x.toFixed(count);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, " ");

/** Calls of `repaint` when the colours change. */
const painters = [];

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Shows a text beside the pointer, or hides it. */
function tip(event, text) {
  const box = $("tip");
  box.hidden = !event;
  if (!event) return;
  box.textContent = text;
  box.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.offsetWidth - 10)) + "px";
  box.style.top = Math.min(event.clientY + 16, innerHeight - box.offsetHeight - 4) + "px";
}
