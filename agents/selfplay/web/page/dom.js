// Elements of the page and of its drawings, made from JavaScript.

const SVG_SPACE = "http://www.w3.org/2000/svg";

/**
 * Make an HTML element. Attributes that are false or null are left out, and true ones are empty; one that is a function
 * listens to the event of its name.
 *
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string | null)} children
 */
export function html(tag, attributes = {}, ...children) {
  return furnish(document.createElement(tag), attributes, children);
}

/** Make an SVG element, as `html` does. */
export function svg(tag, attributes = {}, ...children) {
  return furnish(document.createElementNS(SVG_SPACE, tag), attributes, children);
}

function furnish(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    setAttribute(element, name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Set an attribute as `html` does. */
export function setAttribute(element, name, value) {
  if (typeof value === "function") {
    element.addEventListener(name, value);
  } else if (value === false || value === null || value === undefined) {
    element.removeAttribute(name);
  } else {
    element.setAttribute(name, value === true ? "" : String(value));
  }
}

/** Return the element of the page with this id. */
export function byId(id) {
  return document.getElementById(id);
}

/** Make a button. */
export function button(label, click, attributes = {}) {
  return html("button", { type: "button", click, ...attributes }, label);
}

const FIRST_SHOWN = 24;

/** Fill a list with the first of its items, which are made when they are shown; a button shows the others. */
export function longList(list, makers) {
  const fill = (some) => list.append(...some.map((make) => make()));
  fill(makers.slice(0, FIRST_SHOWN));
  const others = makers.slice(FIRST_SHOWN);
  const more = button(`Show ${others.length} more`, () => {
    fill(others);
    list.children[FIRST_SHOWN].querySelector("button").focus();
    more.remove();
  });
  return others.length ? [list, html("div", { class: "row" }, more)] : [list];
}
