// Elements, and formats of numbers.
"use strict";

// el("button", { class: "x", onclick: f }, "text", node): null and false children are left out.
function el(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes))
        if (key.startsWith("on"))
            element.addEventListener(key.slice(2), value);
        else if (value !== null && value !== undefined && value !== false)
            element.setAttribute(key, value === true ? "" : value);
    element.append(...children.flat().filter(child => child !== null && child !== undefined && child !== false));
    return element;
}

const byId = id => document.getElementById(id);

const seconds = ns => (ns / 1e9).toFixed(6);
const hex = (value, digits) => "0x" + value.toString(16).padStart(digits, "0");
const counted = (count, unit) => `${count.toLocaleString("en")} ${unit}${count === 1 ? "" : "s"}`;
const bytesText = count => `${count.toLocaleString("en")} B`;

// A duration in a suitable unit.
function duration(ns) {
    if (ns === null || ns === undefined)
        return "–";
    const size = Math.abs(ns);
    if (size < 1e3)
        return `${ns} ns`;
    if (size < 1e6)
        return `${(ns / 1e3).toPrecision(3)} µs`;
    if (size < 1e9)
        return `${(ns / 1e6).toPrecision(3)} ms`;
    return `${(ns / 1e9).toPrecision(3)} s`;
}

const colour = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// A link to a row of the ladder.
const rowLink = (index, ...text) =>
    el("button", { type: "button", class: "link", "data-row": index, onclick: () => ladder.show(index) }, ...text);

const tip = {
    show(text, x, y) {
        const box = byId("tip");
        box.textContent = text;
        box.hidden = false;
        const { width, height } = box.getBoundingClientRect();
        box.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 4))}px`;
        box.style.top = `${y + 18 + height > innerHeight ? y - height - 10 : y + 18}px`;
    },
    hide() {
        byId("tip").hidden = true;
    },
};
