// client | wire | server: the rows in order, filters, and navigation.
"use strict";

// Kinds of rows that can be hidden. A row belongs to the first kind that matches.
const kinds = [
    { id: "link", text: "link's events", has: row => row.isLink },
    { id: "driver", text: "drivers' steps", has: row => row.isDriver },
    { id: "chunk", text: "chunks of collectives", has: row => row.isChunk },
    { id: "client", text: "client's events", has: row => !row.isPacket && row.side === 0 },
    { id: "server", text: "server's events", has: row => !row.isPacket },
    { id: "cm", text: "connection", has: row => row.kind === "cm" },
    { id: "exchange", text: "exchange (TCP)", has: row => row.kind === "exchange" },
    { id: "write", text: "WRITE", has: row => row.kind === "write" },
    { id: "read", text: "READ", has: row => row.kind === "read" },
    { id: "send", text: "SEND", has: row => row.kind === "send" },
    { id: "atomic", text: "ATOMIC", has: row => row.kind === "atomic" },
    { id: "ack", text: "ACK", has: row => row.kind === "ack" },
    { id: "nak", text: "NAK", has: row => ["nak", "rnr"].includes(row.kind) },
    { id: "other", text: "other packets", has: () => true },
];

// Words that must all occur; "quoted words" occur as they stand; -word must not occur. {wanted, unwanted}
function parseSearch(text) {
    const parts = { wanted: [], unwanted: [] };
    for (const [, minus, quoted, word] of text.toLowerCase().matchAll(/(-?)(?:"([^"]*)"?|(\S+))/g)) {
        const part = quoted ?? word;
        if (part)
            (minus ? parts.unwanted : parts.wanted).push(part);
    }
    return parts;
}

// Removes the first words that fit into `room` characters, and returns them.
function taken(words, room) {
    let count = 0;
    for (let used = -1; count < words.length && used + 1 + words[count].length <= room; ++count)
        used += 1 + words[count].length;
    return words.splice(0, count);
}

const ladder = {
    hidden: new Set(),
    sender: "",
    search: { wanted: [], unwanted: [] },

    start() {
        for (const row of rows)
            row.group = kinds.find(kind => kind.has(row)).id;
        this.list = new List(byId("rows"), {
            height: 28,
            render: index => this.render(rows[index]),
            open: async index => (rows[index].isPacket ? packetDetail : eventDetail)(rows[index], await details.of(index)),
            selected: index => this.showKin(index),
        });
        new ResizeObserver(() => this.resized()).observe(byId("rows"));
        this.addKinds();
        this.addSenders();
        byId("search").addEventListener("input", () => {
            this.search = parseSearch(byId("search").value);
            this.filter();
        });
        byId("rows").addEventListener("click", event => this.clicked(event));
        byId("next-notable").addEventListener("click", () => this.notable(1));
        byId("previous-notable").addEventListener("click", () => this.notable(-1));
        const losses = rows.filter(row => row.notable).length;
        byId("next-notable").textContent = `▼ ${losses.toLocaleString("en")} losses, NAKs, errors`;
        byId("next-notable").disabled = byId("previous-notable").disabled = losses === 0;
        this.filter();
    },

    addKinds() {
        for (const { id, text } of kinds) {
            const count = rows.filter(row => row.group === id).length;
            if (count === 0)
                continue;
            byId("kinds").append(el("button", {
                type: "button", class: `k-${id}`, "data-kind": id, "aria-pressed": "true",
                onclick: event => {
                    const off = !this.hidden.has(id);
                    off ? this.hidden.add(id) : this.hidden.delete(id);
                    event.currentTarget.setAttribute("aria-pressed", !off);
                    this.filter();
                },
            }, el("span", { class: "dot" }), `${text} ${count.toLocaleString("en")}`));
        }
        byId("kinds").append(el("button", {
            type: "button", id: "only-notable", "aria-pressed": "false", style: "text-decoration: none",
            onclick: event => {
                this.onlyNotable = !this.onlyNotable;
                event.currentTarget.setAttribute("aria-pressed", this.onlyNotable);
                this.filter();
            },
        }, "only losses, NAKs, errors"));
    },

    addSenders() {
        const select = byId("connection");
        select.append(el("option", { value: "" }, "all queue pairs"));
        run.senders.forEach((sender, index) => select.append(el("option", { value: index }, `work requests of ${sender.text}`)));
        select.addEventListener("change", () => {
            this.sender = select.value;
            this.filter();
        });
        select.hidden = run.senders.length < 2;
    },

    isShown(row) {
        return !this.hidden.has(row.group) && (!this.onlyNotable || row.notable) &&
            (this.sender === "" || (row.request >= 0 && run.requests[row.request].sender === Number(this.sender))) &&
            this.search.wanted.every(word => row.searched.includes(word)) &&
            !this.search.unwanted.some(word => row.searched.includes(word));
    },

    filter() {
        const shown = rows.filter(row => this.isShown(row)).map(row => row.index);
        this.list.setIds(shown);
        byId("count").textContent = shown.length === rows.length
            ? counted(rows.length, "row")
            : `${shown.length.toLocaleString("en")} of ${counted(rows.length, "row")}`;
        if (this.list.placeOf(this.list.active) >= 0)
            this.list.select(this.list.active);
    },

    // Selects a row, and clears the filters if they hide it.
    show(index) {
        if (!this.isShown(rows[index]))
            this.showAll();
        this.list.select(index, { middle: true });
        const box = byId("rows").getBoundingClientRect();
        if (box.bottom > innerHeight || box.top < 0)
            byId("rows").scrollIntoView({ block: "nearest", behavior: "instant" });
        byId("rows").focus({ preventScroll: true });
    },

    // Shows a row and opens its details.
    async open(index) {
        this.show(index);
        byId("ladder").scrollIntoView({ behavior: "instant" });
        if (!this.list.opened.has(index))
            await this.list.toggle(index);
        this.list.select(index, { middle: true });
    },

    showAll() {
        this.hidden.clear();
        this.onlyNotable = false;
        this.sender = byId("connection").value = byId("search").value = "";
        this.search = parseSearch("");
        for (const button of byId("kinds").children)
            button.setAttribute("aria-pressed", button.id !== "only-notable");
        this.filter();
    },

    notable(direction) {
        const from = this.list.active < 0 ? (direction > 0 ? -1 : rows.length) : this.list.active;
        for (let index = from + direction; index >= 0 && index < rows.length; index += direction)
            if (rows[index].notable)
                return this.show(index);
    },

    nextKin() {
        const row = rows[this.list.active];
        if (!row || row.request < 0)
            return;
        const kin = byRequest[row.request];
        this.show(row.isPacket && !this.kinFrom ? kin[0] : kin[(kin.indexOf(row.index) + 1) % kin.length]);
        this.kinFrom = true;
    },

    // Highlights the rows of the same work request.
    showKin(index) {
        this.kinFrom = this.kinFrom && rows[index].request === this.kin;
        this.kin = rows[index].request;
        for (const [id, element] of this.list.live)
            element.classList.toggle("kin", this.isKin(id));
    },

    isKin(id) {
        return this.kin >= 0 && rows[id].request === this.kin;
    },

    clicked(event) {
        const item = event.target.closest(".item");
        if (!item || event.target.closest(".detail"))
            return;
        this.list.select(Number(item.dataset.id));
        this.list.toggle(this.list.active);
    },

    key(event) {
        if (this.list.key(event))
            return;
        const open = this.list.opened.has(this.list.active);
        if ((event.key === "ArrowRight" && !open) || (event.key === "ArrowLeft" && open) || event.key === " ") {
            if (this.list.active >= 0)
                this.list.toggle(this.list.active);
            event.preventDefault();
        }
    },

    render(row) {
        const element = el("div", { role: "row", "aria-level": 1 }, el("div", { class: "row" },
            el("span", { role: "gridcell", class: "cell time" }, seconds(row.t)),
            row.isChunk ? this.chunkCell(row) : row.isPacket ? this.packetCells(row) : this.eventCells(row)));
        element.classList.toggle("kin", this.isKin(row.index));
        element.title = row.isPacket ? `${row.text}${row.cause ? `  ← ${row.cause}` : ""}` : row.text;
        return element;
    },

    packetCells(row) {
        const cause = el("span", { class: "tag" }, ...this.marked(row.cause));
        return [this.arrow(row), el("span", { role: "gridcell", class: `cell ${["client", "server"][this.causeSide(row)]}` }, cause)];
    },

    chunkCell(row) {
        return el("span", { role: "gridcell", class: "cell chunk" }, ...this.marked(row.text));
    },

    // The event in its host's lane or, if it is longer, in the lanes beside it, too: no word crosses a lifeline.
    eventCells(row) {
        const kind = row.isLink ? " by-link" : row.isDriver ? " by-driver" : `${row.side === 0 ? " by-client" : " by-server"}${row.notable ? " bad" : ""}`;
        return this.laid(row).map((text, lane) => el("span", { role: "gridcell", class: `cell ${["client", "wire", "server"][lane]}` },
            text && el("span", { class: `event${kind}` }, ...this.marked(text))));
    },

    // The event's text in the three lanes.
    laid(row) {
        const [client, wire, server] = this.lanes();
        const own = row.isLink ? 1 : row.side === 0 ? 0 : 2;
        if (row.text.length <= [client, wire, server][own])
            return ["", "", ""].with(own, row.text);
        const words = row.text.split(" ");
        if (own === 2) {
            const last = taken(words.reverse(), server).reverse().join(" ");
            const rest = words.reverse().join(" ");
            if (rest.length <= wire)
                return ["", rest, last];
            return this.laid({ ...row, side: 0 });
        }
        return [taken(words, client).join(" "), taken(words, wire).join(" "), words.join(" ")];
    },

    // The characters that fit into each lane; while the ladder is hidden, as before.
    lanes() {
        const heads = [...document.querySelectorAll("#ladder .lanes span")].slice(1);
        const width = heads.reduce((sum, head) => sum + head.offsetWidth, 0);
        if (width !== this.width && (width > 0 || !this.room)) {
            const pen = document.createElement("canvas").getContext("2d");
            pen.font = getComputedStyle(byId("rows")).font;
            const padding = 1.5 * parseFloat(getComputedStyle(document.documentElement).fontSize);
            this.room = heads.map(head => Math.floor((head.offsetWidth - padding) / pen.measureText("0").width));
            this.width = width;
        }
        return this.room;
    },

    resized() {
        const before = this.width;
        this.lanes();
        if (this.width !== before) {
            this.list.forget();
            this.list.draw();
        }
    },

    // The lane of a packet's cause: that of the host that posted the request; for connection setup, the sender's.
    causeSide(row) {
        return row.request >= 0 ? run.requests[row.request].side : row.side === 1 ? 1 : 0;
    },

    arrow(row) {
        const way = ["right", "left", ""][row.side];
        const seen = ["", "again ", "late "][row.seen];
        return el("span", { role: "gridcell", class: `cell wire arrow ${way} k-${row.kind} ${row.kind}${row.seen === Seen.again ? " again" : ""}` },
            el("span", { class: "label" }, seen && el("span", { class: "seen" }, seen), ...this.marked(row.text)));
    },

    // The text with the search matches highlighted.
    marked(text) {
        const spots = [];
        const lower = text.toLowerCase();
        for (const word of this.search.wanted)
            for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + word.length))
                spots.push([at, at + word.length]);
        spots.sort((a, b) => a[0] - b[0]);
        const parts = [];
        let done = 0;
        for (const [from, to] of spots) {
            if (from < done)
                continue;
            parts.push(text.slice(done, from), el("mark", {}, text.slice(from, to)));
            done = to;
        }
        parts.push(text.slice(done));
        return parts;
    },
};
