// The tables around the ladder, and the two logs.
"use strict";

// columns: [head, class, cell(item), ...]; a cell is text or nodes.
function table(columns, items) {
    return el("table", {},
        el("thead", {}, el("tr", {}, columns.map(([head, kind]) => el("th", { scope: "col", class: kind }, head)))),
        el("tbody", {}, items.map(item => el("tr", {}, columns.map(([, kind, cell]) => el("td", { class: kind }, cell(item)))))));
}

const sections = {
    start() {
        this.overview();
        this.requests();
        this.capabilities();
        this.firstPsns();
        this.log("client", 0);
        this.log("server", 1);
    },

    overview() {
        byId("about").textContent = run.about;
        byId("facts").append(...run.facts.map(([name, value, bad]) => el("div", {}, el("dt", {}, name), el("dd", { class: bad ? "bad" : null }, value))));
        const { packets, events } = run.left_out;
        if (packets + events > 0) {
            byId("left-out").hidden = false;
            byId("left-out").textContent = `This page has the run's first ${counted(run.kept.packets, "packet")} and ${counted(run.kept.events, "event")}; ` +
                `${counted(packets, "packet")} and ${counted(events, "event")} after them are omitted, except in the throughput and the counts above. ` +
                "rocecap timeline lists all; rocecap report --packets N includes more.";
        }
    },

    requests() {
        const most = 1000;
        const requests = run.requests;
        if (requests.length === 0) {
            byId("requests-summary").textContent = "No program posted a work request.";
            return;
        }
        const half = which => {
            const values = requests.map(request => spanOf(request, which)).filter(value => value !== null).sort((a, b) => a - b);
            const at = share => duration(values[Math.floor((values.length - 1) * share)]);
            return values.length > 0 ? `${at(0.5)} (99 %: ${at(0.99)})` : "–";
        };
        byId("requests-summary").textContent = `${counted(requests.length, "work request")}. Half took: post to wire ${half("wire")}, wire to ACK ${half("ack")}, ` +
            `post to completion ${half("wc")}.` + (requests.length > most ? ` The first ${most.toLocaleString("en")} are below.` : "");
        const time = which => ["number", request => duration(spanOf(request, which))];
        byId("requests-table").append(table([
            ["work request", "", request => {
                const name = `${request.role} wr ${request.wr_id}`;
                return request.row >= 0 ? rowLink(request.row, name) : name;
            }],
            ["queue pair", "", request => el("code", {}, hex(request.qpn, 6))],
            ["operation", "", request => request.opcode],
            ["length", "number", request => bytesText(request.length)],
            ["packets", "number", request => `${request.sent} + ${request.answers}`],
            ["retransmitted", "number", request => request.repeats || ""],
            ["NAKs", "number", request => request.naks || ""],
            ["post → wire", ...time("wire")],
            ["wire → ACK", ...time("ack")],
            ["post → completion", ...time("wc")],
            ["status", "", request => request.status || "–"],
        ], requests.slice(0, most)));
    },

    capabilities() {
        if (run.capabilities.length === 0) {
            byId("capabilities").append(el("p", { class: "none" }, "The logs have no registered memory."));
            return;
        }
        const learned = ({ who, t, how, frame, row }) => {
            const target = frame ? byFrame.get(frame) ?? -1 : row;
            const text = `${who || "an observer on the path"} at ${seconds(t)} s: ${how}${frame ? `, frame ${frame}` : ""}`;
            return el("li", {}, target >= 0 ? rowLink(target, text) : text);
        };
        byId("capabilities").append(table([
            ["owner", "", memory => memory.owner],
            ["memory", "", memory => el("code", {}, `${memory.va} + ${memory.length} B`)],
            ["rkey", "", memory => el("code", {}, memory.rkey)],
            ["rights", "", memory => memory.access],
            ["known to", "", memory => memory.learned.length > 0 ? el("ul", {}, memory.learned.map(learned)) : "no peer or observer"],
        ], run.capabilities));
    },

    firstPsns() {
        const frames = ({ where, frames: list }) => {
            const most = 6;
            const links = list.slice(0, most).flatMap(frame => [byFrame.has(frame) ? rowLink(byFrame.get(frame), `frame ${frame}`) : `frame ${frame}`, " "]);
            return el("li", {}, `${where}: `, links, list.length > most ? `and ${list.length - most} more` : "");
        };
        if (run.first_psns.length === 0) {
            byId("first-psns").append(el("p", { class: "none" }, "The logs have no connection."));
            return;
        }
        byId("first-psns").append(table([
            ["direction", "", direction => direction.direction],
            ["first PSN", "", direction => el("code", {}, direction.psn)],
            ["chosen by", "", direction => direction.chosen_by],
            ["readable in", "", direction => direction.readable.length > 0 ? el("ul", {}, direction.readable.map(frames)) : "–"],
        ], run.first_psns));
    },

    log(role, side) {
        const own = rows.filter(row => !row.isPacket && !row.isLink && !row.isChunk && row.side === side).map(row => row.index);
        const box = byId(`${role}-log`);
        if (own.length === 0) {
            box.replaceWith(el("p", { class: "none" }, "No log."));
            return;
        }
        const list = new List(box, {
            height: 20,
            render: index => el("div", { role: "listitem" }, el("div", { class: `line${rows[index].notable ? " bad" : ""}` },
                `${seconds(rows[index].t)}  ${rows[index].text}`)),
        });
        list.activate = index => ladder.show(index);
        box.addEventListener("keydown", event => list.key(event));
        box.addEventListener("click", event => {
            const item = event.target.closest(".item");
            if (item) {
                list.select(Number(item.dataset.id));
                ladder.show(list.active);
            }
        });
        list.setIds(own);
    },
};
