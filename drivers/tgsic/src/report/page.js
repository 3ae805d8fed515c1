(() => {
    // Rows of a table that are shown at first: more would make a browser slow.
    const MOST_ROWS = 500;
    // Two texts are compared line by line only if the table for that has at most this many cells.
    const MOST_CELLS = 16e6;

    const { byId, data, make, plain, count, section, number } = common;

    const programs = data.programs.map(([name, stage, number, old, now, oldText, newText]) => {
        const program = { name, stage: data.stages[stage], number, old, new: now, oldText, newText };
        program.effects = data.statistics.map((_, place) => effect(place, old && old[place], now && now[place]));
        program.outcome = outcome(program);
        return program;
    });

    /** -1: helped, 1: hurt, 0: the same or unknown. */
    function effect(place, old, now) {
        if (typeof old !== "number" || typeof now !== "number") return 0;
        return Math.sign(now - old) * (data.statistics[place].moreIsBetter ? -1 : 1);
    }

    function outcome(program) {
        if (!program.old) return "gained";
        if (!program.new) return "lost";
        const helped = program.effects.includes(-1);
        const hurt = program.effects.includes(1);
        if (helped && hurt) return "mixed";
        return helped ? "helped" : hurt ? "hurt" : "same";
    }

    const effectClass = (sign) => (sign < 0 ? "helped" : sign > 0 ? "hurt" : "soft");

    function relative(old, now) {
        if (old === now) return 0;
        return old === 0 ? Infinity : now / old - 1;
    }

    /** A relative change, with its sign. */
    function percent(old, now) {
        if (typeof old !== "number" || typeof now !== "number") return "";
        if (old === now) return "\u00b10";
        const sign = now > old ? "+" : "\u2212";
        if (old === 0) return sign + plain(now);
        const size = Math.abs(now / old - 1) * 100;
        return sign + (size < 0.01 ? "<0.01" : size.toFixed(2)) + "%";
    }

    const keyText = (program) => program.stage + (program.number > 0 ? ` #${program.number + 1}` : "");

    function address(program) {
        const number = program.number > 0 ? `&number=${program.number + 1}` : "";
        return `#shader=${encodeURIComponent(program.name)}&stage=${encodeURIComponent(program.stage)}${number}`;
    }

    /**
     * Fills a table that is sorted by a click on a heading. A column has a title, a value to sort by, and a function
     * that creates a cell. Returns a function that shows other rows.
     */
    function sortable(table, columns, atEnd) {
        let rows = [];
        let sorted = null;
        let descending = false;
        let limit = MOST_ROWS;
        const body = make("tbody");
        const headings = columns.map((column, place) => {
            const button = make("button", { type: "button" }, column.title);
            button.addEventListener("click", () => {
                // Numbers are first sorted in descending order.
                descending = sorted === place ? !descending : Boolean(column.number);
                sorted = place;
                show();
            });
            return make("th", { scope: "col", class: column.number ? "number" : null, "aria-sort": "none" }, button);
        });
        table.replaceChildren(make("thead", {}, make("tr", {}, ...headings)), body);

        function order() {
            if (sorted === null) return rows;
            const value = columns[sorted].value;
            const direction = descending ? -1 : 1;
            const compare = (a, b) => {
                // Missing values are last in either order.
                if (a === null || b === null) return (a === null) - (b === null);
                return direction * (typeof a === "string" ? (a < b ? -1 : a > b ? 1 : 0) : a - b);
            };
            return rows.map((row) => [value(row), row]).sort((a, b) => compare(a[0], b[0])).map(([, row]) => row);
        }

        function show() {
            headings.forEach((heading, place) => {
                const state = place === sorted ? (descending ? "descending" : "ascending") : "none";
                heading.setAttribute("aria-sort", state);
            });
            const ordered = order();
            const line = (row) => make("tr", {}, ...columns.map((column) => column.cell(row)));
            body.replaceChildren(...ordered.slice(0, limit).map(line));
            if (atEnd) atEnd(ordered, Math.min(limit, ordered.length));
        }

        return (changes) => {
            if (changes.rows) rows = changes.rows;
            limit = changes.all ? Infinity : MOST_ROWS;
            show();
        };
    }

    const text = (value) => make("td", {}, value);

    function showTotals() {
        const rows = [];
        for (const summary of data.summaries) {
            for (const [place, old, now, affectedOld, affectedNew, helped, hurt] of summary.totals) {
                const name = data.statistics[place].name;
                rows.push({ summary, place, name, old, now, affectedOld, affectedNew, helped, hurt });
            }
        }
        const stage = (row) => row.summary.stage || "all";
        const change = (old, now) => ({
            value: (row) => relative(row[old], row[now]),
            cell: (row) => number(percent(row[old], row[now]), effectClass(effect(row.place, row[old], row[now]))),
        });
        const plainNumber = (title, name) =>
            ({ title, number: true, value: (row) => row[name], cell: (row) => number(plain(row[name])) });
        const counted = (title, name) => ({
            ...plainNumber(title, name),
            cell: (row) => number(plain(row[name]), row[name] > 0 ? name : "soft"),
        });
        const columns = [
            { title: "Stage", value: stage, cell: (row) => text(stage(row)) },
            { title: "Statistic", value: (row) => row.name, cell: (row) => text(row.name) },
            {
                title: "Shaders", number: true, value: (row) => row.summary.shared,
                cell: (row) => number(plain(row.summary.shared)),
            },
            plainNumber("Old", "old"),
            plainNumber("New", "now"),
            { title: "Change", number: true, ...change("old", "now") },
            plainNumber("Affected: old", "affectedOld"),
            plainNumber("Affected: new", "affectedNew"),
            { title: "Change", number: true, ...change("affectedOld", "affectedNew") },
            counted("Helped", "helped"),
            counted("Hurt", "hurt"),
        ];
        sortable(byId("totals"), columns)({ rows });
        const { lost, gained } = data.summaries[0];
        const parts = [`Lost: ${plain(lost)}, gained: ${plain(gained)}.`];
        if (data.results.length > 0) {
            const shown = data.results.slice(0, 20).map(([file, old, now]) => `${file}: ${old} \u2192 ${now}`);
            const more = data.results.length > 20 ? `; ${data.results.length - 20} more` : "";
            parts.push(`Other results: ${shown.join("; ")}${more}.`);
        }
        byId("results").textContent = parts.join(" ");
    }

    /** The programs in the order last shown, for navigation between them. */
    let shown = programs;

    function showPrograms() {
        // Omits statistics that are zero everywhere.
        const used = new Set(data.summaries[0].totals.map(([place]) => place));
        const statistics = data.statistics.map(({ name }, place) => ({ name, place })).filter(({ place }) => used.has(place));
        const values = (row, place) => [row.old && row.old[place], row.new && row.new[place]];
        const sortValue = (row, place) => {
            const [old, now] = values(row, place);
            const by = byId("by").value;
            if (by === "old" || by === "new") return (by === "old" ? old : now) ?? null;
            if (typeof old !== "number" || typeof now !== "number") return null;
            return by === "difference" ? now - old : relative(old, now);
        };
        const cell = (row, place) => {
            const [old, now] = values(row, place);
            if (typeof old !== "number" && typeof now !== "number") return number("");
            if (old === now) return number(plain(now) + " ", "soft");
            const both = [old, now].map((value) => (typeof value === "number" ? plain(value) : "\u2013"));
            const delta = make("span", { class: `delta ${effectClass(row.effects[place])}` }, percent(old, now));
            return number(`${both[0]} \u2192 ${both[1]} `).appendChild(delta).parentNode;
        };
        const columns = [
            {
                title: "Program", value: (row) => row.name,
                cell: (row) => make("th", { scope: "row", class: "name" }, make("a", { href: address(row) }, row.name)),
            },
            { title: "Stage", value: keyText, cell: (row) => text(keyText(row)) },
            {
                title: "Outcome", value: (row) => row.outcome,
                cell: (row) => make("td", { class: row.outcome === "same" ? "soft" : row.outcome }, row.outcome),
            },
            ...statistics.map(({ name, place }) => ({
                title: name, number: true, value: (row) => sortValue(row, place), cell: (row) => cell(row, place),
            })),
        ];
        const more = byId("more");
        const update = sortable(byId("programs"), columns, (ordered, limit) => {
            shown = ordered;
            byId("count").textContent = count(ordered.length, "program");
            more.hidden = limit === ordered.length;
            more.textContent = `Show all ${plain(ordered.length)} programs`;
        });
        more.addEventListener("click", () => update({ all: true }));

        const option = (value, title) => make("option", { value }, title || value);
        byId("stage").append(option("", "all"), ...data.stages.map((stage) => option(stage)));
        const outcomes = ["changed", "helped", "hurt", "mixed", "gained", "lost", "same"];
        byId("outcome").append(option("", "all"), ...outcomes.map((name) => option(name)));
        const filter = () => {
            const [name, stage, wanted] = ["name", "stage", "outcome"].map((id) => byId(id).value);
            const part = name.toLowerCase();
            const fits = (program) =>
                program.name.toLowerCase().includes(part) &&
                (stage === "" || program.stage === stage) &&
                (wanted === "" || program.outcome === wanted || (wanted === "changed" && program.outcome !== "same"));
            update({ rows: programs.filter(fits) });
        };
        byId("filters").addEventListener("input", filter);
        byId("filters").addEventListener("submit", (event) => event.preventDefault());
        filter();
    }

    /** Pairs the lines of both texts: `[place or null, place or null]`. Equal lines are paired with each other. */
    function pairLines(old, now) {
        let start = 0;
        while (start < old.length && start < now.length && old[start] === now[start]) start++;
        let end = 0;
        const most = Math.min(old.length, now.length) - start;
        while (end < most && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
        const pairs = [];
        for (let i = 0; i < start; i++) pairs.push([i, i]);
        const height = old.length - start - end;
        const width = now.length - start - end;
        const equal = height * width <= MOST_CELLS ? commonLines(old, now, start, height, width) : [];
        equal.push([old.length - end, now.length - end]);
        let [left, right] = [start, start];
        for (const [nextLeft, nextRight] of equal) {
            while (left < nextLeft || right < nextRight) {
                pairs.push([left < nextLeft ? left++ : null, right < nextRight ? right++ : null]);
            }
            if (left < old.length - end) pairs.push([left++, right++]);
        }
        for (let i = 0; i < end; i++) pairs.push([old.length - end + i, now.length - end + i]);
        return pairs;
    }

    /** Computes the longest common subsequence. */
    function commonLines(old, now, start, height, width) {
        const stride = width + 1;
        const length = new Uint32Array((height + 1) * stride);
        for (let i = height - 1; i >= 0; i--) {
            for (let j = width - 1; j >= 0; j--) {
                const at = i * stride + j;
                length[at] = old[start + i] === now[start + j]
                    ? length[at + stride + 1] + 1
                    : Math.max(length[at + stride], length[at + 1]);
            }
        }
        const found = [];
        for (let i = 0, j = 0; i < height && j < width; ) {
            const at = i * stride + j;
            if (old[start + i] === now[start + j]) found.push([start + i++, start + j++]);
            else if (length[at + stride] >= length[at + 1]) i++;
            else j++;
        }
        return found;
    }

    /** A line of TGSI without its number and its jump target, which change with every line before it. */
    const withoutNumbers = (line) => line.replace(/^ *\d+: /, "").replace(/ :\d+$/, "");

    const linesOf = (text) => text.replace(/\n$/, "").split("\n");

    /** Shows two texts side by side. */
    function sideBySide(oldText, newText) {
        const [old, now] = [linesOf(oldText), linesOf(newText)];
        const [oldCode, newCode] = [old.map(withoutNumbers), now.map(withoutNumbers)];
        const rows = pairLines(oldCode, newCode).map(([left, right]) => {
            const differ = left === null || right === null || oldCode[left] !== newCode[right];
            const side = (lines, place, kind) => [
                make("td", { class: "place" }, place === null ? "" : String(place + 1)),
                make("td", { class: place === null ? "empty" : differ ? kind : null }, place === null ? "" : lines[place]),
            ];
            return make("tr", {}, ...side(old, left, "removed"), ...side(now, right, "added"));
        });
        const heading = (title) => make("th", { scope: "colgroup", colspan: 2 }, title);
        const columns = [0, 1].flatMap(() => [make("col", { class: "place" }), make("col")]);
        return make("div", { class: "scroll", tabindex: 0 }, make("table", { class: "code" },
            make("colgroup", {}, ...columns),
            make("thead", {}, make("tr", {}, heading("Old"), heading("New"))), make("tbody", {}, ...rows)));
    }

    /** Shows a difference in the unified format. */
    function unified(change) {
        const kinds = { "+": "added", "-": "removed", "@": "hunk" };
        const parts = linesOf(change).map((line) => {
            const kind = kinds[line[0]];
            return kind ? make("span", { class: kind }, line) : line + "\n";
        });
        return make("pre", { tabindex: 0 }, ...parts);
    }

    /** Unpacks the texts of a shader; returns null if the run has none. */
    async function unpack(place) {
        if (place === null) return null;
        const bytes = Uint8Array.from(atob(byId(`text-${place}`).textContent), (c) => c.charCodeAt(0));
        const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
        return JSON.parse(await new Response(stream).text());
    }

    /** Shows a text that both runs may have. */
    function textSection(title, old, now) {
        const known = [old, now].filter((text) => typeof text === "string");
        if (known.length === 0) return null;
        if (known.length === 2 && known[0] !== known[1]) return section(title, sideBySide(old, now));
        const only = known.length === 2 ? "The same in both runs." : old === known[0] ? "In the old run." : "In the new run.";
        return section(title, make("p", { class: "soft" }, only),
            make("div", { class: "scroll", tabindex: 0 }, make("pre", {}, known[0])));
    }

    /** An element that creates its content when it is opened. */
    function folded(summary, content) {
        const details = make("details", {}, make("summary", {}, ...summary));
        details.addEventListener("toggle", () => {
            if (details.open && details.childElementCount === 1) details.append(content());
        });
        return details;
    }

    function passList(texts, other) {
        const items = [];
        if (texts.ir) items.push(folded(["IR before the first pass"], () => make("pre", { tabindex: 0 }, texts.ir)));
        const same = (a, b) => b && a.pass === b.pass && a.change === b.change;
        const first = other ? texts.passes.findIndex((pass, place) => !same(pass, other.passes[place])) : -1;
        texts.passes.forEach((pass, place) => {
            const lines = linesOf(pass.change);
            const starting = (sign) => lines.filter((line) => line[0] === sign).length;
            items.push(folded([
                `${pass.pass} `,
                pass.round === "" ? null : make("span", { class: "soft" }, `round ${pass.round} `),
                make("span", { class: "hurt" }, `\u2212${starting("-")} `),
                make("span", { class: "helped" }, `+${starting("+")}`),
                place === first ? make("span", { class: "badge" }, "first difference between the runs") : null,
            ].filter((part) => part !== null), () => unified(pass.change)));
        });
        return items;
    }

    function passSection(old, now) {
        const has = (texts) => texts && texts.passes.length > 0;
        if (!has(old) && !has(now)) return null;
        const equal = has(old) && has(now) && JSON.stringify(old.passes) === JSON.stringify(now.passes);
        const column = (title, texts, other) =>
            make("div", {}, make("h3", {}, `${title}: ${count(texts.passes.length, "change")}`), ...passList(texts, other));
        const columns = [];
        if (equal) columns.push(column("The same in both runs", now, null));
        else {
            if (has(old)) columns.push(column("Old", old, has(now) ? now : null));
            if (has(now)) columns.push(column("New", now, has(old) ? old : null));
        }
        const list = make("div", { class: "columns" }, ...columns);
        const all = make("button", { type: "button", id: "expand" }, "Expand all");
        all.addEventListener("click", () => {
            const open = all.textContent === "Expand all";
            for (const details of list.querySelectorAll("details")) details.open = open;
            all.textContent = open ? "Collapse all" : "Expand all";
        });
        return section("Passes", make("p", {}, "The changes of each pass in the IR. ", all), list);
    }

    function numbers(program) {
        const row = ({ name }, place) => {
            const [old, now] = [program.old && program.old[place], program.new && program.new[place]];
            if (typeof old !== "number" && typeof now !== "number") return null;
            const value = (value) => number(typeof value === "number" ? plain(value) : "\u2013");
            return make("tr", {}, make("th", { scope: "row" }, name), value(old), value(now),
                number(percent(old, now), effectClass(program.effects[place])));
        };
        const titles = [["Statistic", ""], ["Old", "number"], ["New", "number"], ["Change", "number"]];
        const headings = titles.map(([title, kind]) =>
            make("th", { scope: "col", class: kind, style: "padding: 0.28rem 0.7rem" }, title));
        return make("table", { class: "numbers" }, make("thead", {}, make("tr", {}, ...headings)),
            make("tbody", {}, ...data.statistics.map(row).filter((row) => row !== null)));
    }

    /** Counts the shaders that were opened, so that texts unpacked late are not shown with another shader. */
    let opened = 0;

    async function showShader(program) {
        const turn = ++opened;
        const place = shown.indexOf(program);
        const neighbour = (other, title) => (place >= 0 && other ? make("a", { href: address(other) }, title) : null);
        const heading = make("h2", { tabindex: -1 }, `${program.name} \u2013 ${keyText(program)}`);
        const page = byId("shader");
        page.replaceChildren(
            make("nav", { "aria-label": "Programs" }, make("a", { href: "#" }, "All programs (Escape)"),
                neighbour(shown[place - 1], "Previous program"), neighbour(shown[place + 1], "Next program")),
            make("section", {}, heading, make("p", {}, "Outcome: ", make("span", { class: program.outcome }, program.outcome)),
                numbers(program)));
        document.title = `${program.name} \u2013 comparison of two runs`;
        byId("overview").hidden = true;
        page.hidden = false;
        window.scrollTo(0, 0);
        heading.focus();
        let sections;
        try {
            const [old, now] = [await unpack(program.oldText), await unpack(program.newText)];
            sections = [
                textSection("Source", old && old.source, now && now.source),
                textSection("Result", old && old.result, now && now.result),
                passSection(old, now),
            ].filter((part) => part !== null);
            if (sections.length === 0) {
                sections.push(section("Texts", make("p", {}, "The runs have no texts of this shader. ",
                    "Runs of \u201ctgsic translate --json --texts\u201d do.")));
            }
        } catch (error) {
            sections = [section("Texts", make("p", { class: "hurt" }, `The texts cannot be unpacked: ${error.message}`))];
        }
        if (turn === opened) page.append(...sections);
    }

    /** Shows the view named by the fragment of the address. */
    function route() {
        const wanted = new URLSearchParams(location.hash.slice(1));
        const [name, stage, number] = ["shader", "stage", "number"].map((key) => wanted.get(key));
        const program = name !== null && programs.find((program) =>
            program.name === name && (stage === null || program.stage === stage) &&
            (number === null || String(program.number + 1) === number));
        if (program) {
            showShader(program);
            return;
        }
        opened++;
        const before = byId("shader").hidden ? null : last;
        byId("shader").hidden = true;
        byId("overview").hidden = false;
        document.title = "Comparison of two runs";
        // Focuses the link that was followed.
        const links = before ? [...document.querySelectorAll("#programs a")] : [];
        const link = links.find((link) => link.getAttribute("href") === before);
        if (link) link.focus();
    }

    /** The fragment before the current one. */
    let last = null;
    let current = location.hash;
    window.addEventListener("hashchange", () => {
        [last, current] = [current, location.hash];
        route();
    });
    document.addEventListener("keydown", (event) => {
        if (event.key === "Escape" && !byId("shader").hidden) location.hash = "";
    });

    byId("runs").textContent =
        `Old: ${data.old.name} (${count(data.old.shaders, "shader")}), new: ${data.new.name} (${count(data.new.shaders, "shader")})`;
    showTotals();
    showPrograms();
    route();
})();
