// The generated C beside the text of its algorithm, with the quantity and the body of every line.

let keptQuantity = null;

function markCode(match) {
  for (const line of $("c").children) line.classList.toggle("hit", match(line.dataset));
}

/** Marks lines of the algorithm, by their numbers, and scrolls its box to the first of them. */
function markAlgorithm(numbers) {
  const box = $("algorithm"), marked = new Set(numbers);
  [...box.children].forEach((line, number) => line.classList.toggle("hit", marked.has(number)));
  const first = box.querySelector(".hit"), space = 40;
  if (!first) return;
  const top = first.offsetTop - box.offsetTop;
  if (top < box.scrollTop || top > box.scrollTop + box.clientHeight - space) box.scrollTop = top - space;
}

/** The lines of the algorithm that the lines of C come from for which a test is true. */
const linesOf = (test) => [...$("c").children].filter((line) => "at" in line.dataset && test(line.dataset)).map((line) => +line.dataset.at);

function lineOfC([text, quantity, index, at], number) {
  const [, code, comment] = text.match(/^(.*?)(\/\*.*\*\/)?\s*$/);
  const gutter = element("span"), words = element("s", {}, code, comment ? element("em", { text: comment }) : "");
  const line = element("div", {}, element("u", { text: number + 1 }), gutter, words);
  if (!quantity) return line;
  line.dataset.quantity = quantity;
  if (at !== null) line.dataset.at = at;
  if (index === null) return line;
  line.dataset.index = index;
  if (bodies[index]) gutter.style.background = hueOf(index);
  line.onmouseenter = () => {
    if (keptQuantity) return;
    markCode((of) => of.quantity === quantity && +of.index === index);
    markAlgorithm(at === null ? [] : [at]);
    const area = line.getBoundingClientRect();
    const body = bodies[index] ? `: ${bodies[index].name}` : "";
    tip({ clientX: area.left + 30, clientY: area.bottom - 10 }, `${quantity}[${index}]${body}`);
  };
  line.onmouseleave = () => {
    tip();
    if (keptQuantity) return;
    markCode(() => false);
    markAlgorithm([]);
  };
  return line;
}

function showLabels(lines) {
  const counts = new Map();
  for (const [, quantity, index] of lines) if (quantity && index !== null) counts.set(quantity, (counts.get(quantity) ?? 0) + 1);
  const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, 8);
  $("labels").replaceChildren(...most.map(([quantity, number]) => {
    const label = toggle(`${quantity} ${number}`, false, (pressed) => {
      keptQuantity = pressed ? quantity : null;
      for (const other of $("labels").children) other.setAttribute("aria-pressed", other === label && pressed);
      markCode((of) => pressed && of.quantity === quantity);
      markAlgorithm(linesOf((of) => of.quantity === keptQuantity));
      $("c").querySelector(".hit")?.scrollIntoView({ block: "nearest" });
    });
    label.title = `${number} lines`;
    return label;
  }));
}

function showAlgorithm(text) {
  $("algorithm").parentElement.classList.toggle("one", !text);
  let inText = false;
  $("algorithm").replaceChildren(...text.split("\n").map((words, number) => {
    const quotes = (words.match(/"""/g) ?? []).length;
    const line = element("span", { text: words || " ", className: inText || quotes ? "text" : "" });
    if (quotes === 1) inText = !inText;
    line.onmouseenter = () => keptQuantity || markCode((of) => of.at === String(number));
    line.onmouseleave = () => keptQuantity || markCode(() => false);
    return line;
  }));
}

function showCode(name) {
  keptQuantity = null;
  for (const button of $("functions").children) button.setAttribute("aria-pressed", button.dataset.name === name);
  const { c, text } = data.code[name];
  $("c").replaceChildren(...c.map(lineOfC));
  showLabels(c);
  showAlgorithm(text);
}

for (const name of Object.keys(data.code)) {
  const button = toggle(name, false, () => showCode(name));
  button.dataset.name = name;
  $("functions").append(button);
}
if (Object.keys(data.code).length) showCode(Object.keys(data.code)[0]);
else $("code").remove();
