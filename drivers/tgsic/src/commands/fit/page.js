(() => {
    const { byId, data, make, plain, count, section, number } = common;

    // Rows of the matrix that are shown at first: more would make a browser slow.
    const MOST_ROWS = 1000;

    const { targets, shaders, texts } = data;
    const fitsAll = (shader) => shader.cells.every(({ kind }) => kind === "fits" || kind === "no-limits");
    const link = (shader) => `#shader=${shaders.indexOf(shader)}`;

    /** The limit that is used most, relative to the amount available, among those that are used and not exceeded. */
    function tightest(limits) {
        const bounded = limits.filter(({ used, limit, interface: fixed }) =>
            !fixed && limit !== null && used > 0 && used <= limit);
        return bounded.reduce((best, next) => (best && best.used / best.limit >= next.used / next.limit ? best : next), null);
    }

    /** The second line of a cell: the amount that is too much, or left. */
    function remark({ limits, kind }) {
        if (!limits) return null;
        const exceeded = limits.filter(({ used, limit }) => limit !== null && used > limit).length;
        if (kind !== "fits") return exceeded > 1 ? `${exceeded} limits exceeded` : null;
        const limit = tightest(limits);
        return limit && `${plain(limit.limit - limit.used)} of ${plain(limit.limit)} ${limit.about} left`;
    }

    function matrixCell(shader, cell) {
        const left = remark(cell);
        return make("td", { class: cell.kind }, make("a", { href: link(shader) }, cell.text),
            left ? make("span", { class: "left" }, left) : null);
    }

    function showMatrix() {
        const titles = ["Shader", ...targets.map(({ name }) => name)];
        const heading = make("thead", {}, make("tr", {}, ...titles.map((title) => make("th", { scope: "col" }, title))));
        const body = make("tbody");
        const totals = ["Total", ...targets.map(({ total }) => total)];
        const foot = make("tfoot", {}, make("tr", {}, ...totals.map((total) => make("th", { scope: "col" }, total))));
        byId("matrix").replaceChildren(heading, body, foot);
        let all = false;
        const show = () => {
            const [part, verdict] = [byId("name").value.toLowerCase(), byId("verdict").value];
            const found = shaders.filter((shader) =>
                shader.name.toLowerCase().includes(part) && (verdict === "" || fitsAll(shader) === (verdict === "fits")));
            const rows = (all ? found : found.slice(0, MOST_ROWS)).map((shader) => make("tr", {},
                make("th", { scope: "row", class: "name" }, make("a", { href: link(shader) }, shader.name)),
                ...shader.cells.map((cell) => matrixCell(shader, cell))));
            body.replaceChildren(...rows);
            byId("count").textContent = count(found.length, "shader");
            byId("more").hidden = rows.length === found.length;
            byId("more").textContent = `Show all ${plain(found.length)} shaders`;
        };
        byId("more").addEventListener("click", () => {
            all = true;
            show();
        });
        byId("filters").addEventListener("input", show);
        byId("filters").addEventListener("submit", (event) => event.preventDefault());
        show();
    }

    function table(titles, rows) {
        const heading = titles.map((title) => make("th", { scope: "col", style: "padding: 0.28rem 0.7rem" }, title));
        return make("table", {}, make("thead", {}, make("tr", {}, ...heading)), make("tbody", {}, ...rows));
    }

    function showLanguages() {
        const parts = data.languages.map(({ title, targets, rows, unknown }) => make("details", { open: "" },
            make("summary", {}, title),
            make("div", { class: "scroll", tabindex: 0 }, table(["", ...targets], rows.map(([name, ...values]) =>
                make("tr", {}, make("th", { scope: "row" }, name), ...values.map((value) => make("td", {}, value)))))),
            unknown.length > 0 ? make("p", { class: "soft" }, `Any language: ${unknown.join(", ")}`) : null));
        byId("languages").append(...parts);
        byId("languages").hidden = parts.length === 0;
    }

    function limitsTable(shader) {
        const measured = targets.map((_, place) => shader.cells[place].limits || []);
        const names = [...new Set(measured.flat().filter(({ used, limit }) => used > 0 || limit !== 0).map(({ about }) => about))];
        const rows = names.map((name) => make("tr", {}, make("th", { scope: "row" }, name), ...measured.map((limits) => {
            const found = limits.find(({ about }) => about === name);
            if (!found) return number("");
            const { used, limit, estimate } = found;
            const text = limit === null ? plain(used) : `${plain(used)} of ${plain(limit)}`;
            return number(estimate ? `about ${text}` : text, limit !== null && used > limit ? "hurt" : null);
        })));
        const verdicts = make("tr", {}, make("th", { scope: "row" }, "verdict"),
            ...shader.cells.map(({ kind, text }) => make("td", { class: kind }, text)));
        return table(["", ...targets.map(({ name }) => name)], [verdicts, ...rows]);
    }

    function findings(shader) {
        return shader.findings.map(({ severity, code, message, hint, line, column }) => make("p", { class: "message" },
            make("span", { class: severity === "error" ? "hurt" : "soft" }, `${severity}${code ? `[${code}]` : ""}`),
            `: ${line ? `line ${line}, column ${column}: ` : ""}${message}`,
            hint ? make("span", { class: "soft" }, ` (${hint})`) : null));
    }

    /** The source, before each line the instructions that a target has for it. */
    function listing(shader, place) {
        const cell = place === null ? null : shader.cells[place];
        const units = cell && cell.units ? cell.units : [];
        const text = texts[cell && cell.text_number !== null ? cell.text_number : shader.text];
        if (text === undefined) return make("p", {}, "The source has no lines.");
        const costs = new Map(((cell && cell.lines) || []).map(([line, ...counts]) => [line, counts]));
        const marked = new Set(shader.findings.map(({ line }) => line));
        const row = (counts, title, line, kind) => make("tr", {},
            ...units.map((_, unit) => number(counts && counts[unit] ? plain(counts[unit]) : "", counts ? "cost" : null)),
            make("td", { class: "place number" }, title), make("td", { class: `text ${kind || ""}`.trim() }, line));
        const rows = text.replace(/\n$/, "").split("\n").map((line, at) =>
            row(costs.get(at + 1), String(at + 1), line.replace(/\r$/, ""), marked.has(at + 1) ? "removed" : null));
        if (costs.has(null)) rows.push(row(costs.get(null), "", "without a line", "soft"));
        const titles = [...units, "", ""].map((title) => make("th", { scope: "col", class: "number" }, title));
        return make("div", { class: "scroll whole", tabindex: 0 }, make("table", { class: "source" },
            make("thead", {}, make("tr", {}, ...titles)), make("tbody", {}, ...rows)));
    }

    function sourceSection(shader) {
        const counted = targets.map((_, place) => place).filter((place) => shader.cells[place].lines);
        const first = counted.find((place) => shader.cells[place].kind !== "fits") ?? counted[0] ?? null;
        const choice = make("select", { id: "target" },
            ...counted.map((place) => make("option", { value: place }, targets[place].name)));
        if (first !== null) choice.value = String(first);
        const shown = make("div", {}, listing(shader, first));
        choice.addEventListener("input", () => shown.replaceChildren(listing(shader, Number(choice.value))));
        const label = counted.length > 0 ? make("p", {}, make("label", {}, "Instructions for ", choice)) : null;
        return section("Source", label, shown);
    }

    function showShader(shader) {
        const at = shaders.indexOf(shader);
        const neighbour = (other, title) => (other ? make("a", { href: link(other) }, title) : null);
        const heading = make("h2", { tabindex: -1 }, shader.name);
        const messages = findings(shader);
        byId("shader").replaceChildren(
            make("nav", { "aria-label": "Shaders" }, make("a", { href: "#" }, "All shaders (Escape)"),
                neighbour(shaders[at - 1], "Previous shader"), neighbour(shaders[at + 1], "Next shader")),
            make("section", {}, heading, make("div", { class: "scroll", tabindex: 0 }, limitsTable(shader))),
            messages.length > 0 ? section("Findings", ...messages) : "",
            sourceSection(shader));
        document.title = `${shader.name} \u2013 shaders and targets`;
        byId("overview").hidden = true;
        byId("shader").hidden = false;
        window.scrollTo(0, 0);
        heading.focus();
    }

    /** Shows the view named by the fragment of the address. */
    function route() {
        const shader = shaders[new URLSearchParams(location.hash.slice(1)).get("shader") ?? -1];
        if (shader) {
            showShader(shader);
            return;
        }
        byId("shader").hidden = true;
        byId("overview").hidden = false;
        document.title = "Shaders and targets";
    }

    window.addEventListener("hashchange", route);
    document.addEventListener("keydown", (event) => {
        if (event.key === "Escape" && !byId("shader").hidden) location.hash = "";
    });

    byId("summary").textContent = `${count(shaders.length, "shader")}, ${count(targets.length, "target")}, ${data.version}`;
    showMatrix();
    showLanguages();
    route();
})();
