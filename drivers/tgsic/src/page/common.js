"use strict";

/** Functions of all pages, and the data. */
const common = (() => {
    const byId = (id) => document.getElementById(id);
    const data = JSON.parse(byId("data").textContent);

    /** Creates an element. Texts become text nodes, so that data is never parsed as HTML. */
    function make(tag, attributes, ...children) {
        const element = document.createElement(tag);
        for (const [name, value] of Object.entries(attributes || {})) {
            if (value !== null && value !== undefined) element.setAttribute(name, value);
        }
        element.append(...children.filter((child) => child !== null));
        return element;
    }

    const plain = (number) => number.toLocaleString("en");
    const count = (number, what) => `${plain(number)} ${what}${number === 1 ? "" : "s"}`;

    function section(title, ...content) {
        return make("section", {}, make("h2", {}, title), ...content);
    }

    /** A table cell with a number. */
    const number = (value, kind) => make("td", { class: `number ${kind || ""}`.trim() }, value);

    return { byId, data, make, plain, count, section, number };
})();
