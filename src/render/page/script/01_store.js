// Data of the page, deflated, one chunk per line: the run, its rows, and the details of each row.
"use strict";

let run;  // facts, queue pairs and work requests: src/render/page/page.cpp

const chunksOf = id => document.getElementById(id).textContent.trim().split("\n").filter(Boolean);

async function inflate(base64) {
    const bytes = Uint8Array.from(atob(base64), letter => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

const Seen = { first: 0, again: 1, late: 2 };

// Fields are in the order of src/render/page/rows.cpp. t: nanoseconds since the first row.
function toRow(fields, index) {
    const [isPacket, t, side, kind, text, request, notable] = fields;
    const row = { index, isPacket: isPacket === 1, t, side, kind, text, request, notable: notable === 1 };
    if (row.isPacket)
        [row.frame, row.cause, row.seen, row.psns, row.psn, row.payload, row.isResponse] = fields.slice(7);
    row.isLink = !row.isPacket && text.startsWith("link: ");
    row.isDriver = !row.isPacket && kind === "driver";
    // A chunk of a collective: text, then its end, from its first packet to its completion.
    const { chunk, completed } = run.requests[request] ?? {};
    row.isChunk = chunk?.row === index;
    if (row.isChunk)
        row.text += completed === null ? " · not completed" : ` · done ${duration(completed - t)} after its first packet`;
    row.searched = `${row.text} ${row.isPacket ? `${row.cause} frame ${row.frame}` : ""} ${chunk?.text ?? ""}`.toLowerCase();
    return row;
}

const rows = [];
const byRequest = [];  // rows of each work request, in order
const byFrame = new Map();

async function load() {
    run = await inflate(document.getElementById("run").textContent);
    for (const chunk of await Promise.all(chunksOf("rows-data").map(inflate)))
        for (const fields of chunk)
            rows.push(toRow(fields, rows.length));
    for (const row of rows) {
        if (row.request >= 0)
            (byRequest[row.request] ??= []).push(row.index);
        if (row.isPacket)
            byFrame.set(row.frame, row.index);
    }
}

// Details of a row. Inflates its chunk at the first access, and keeps the last few chunks.
const details = {
    chunks: chunksOf("details-data"),
    inflated: new Map(),
    async of(index) {
        const number = Math.floor(index / run.chunk);
        let chunk = this.inflated.get(number);
        if (!chunk) {
            chunk = inflate(this.chunks[number]);
            this.inflated.set(number, chunk);
            if (this.inflated.size > 8)
                this.inflated.delete(this.inflated.keys().next().value);
        }
        return (await chunk)[index % run.chunk];
    },
};
