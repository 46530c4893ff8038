// Details of a row: a packet's headers and bytes, an event's fields, and related rows.
"use strict";

function requestText(index) {
    const request = run.requests[index];
    return `${request.role} wr ${request.wr_id} ${request.opcode} ${bytesText(request.length)}`;
}

// The role that wrote an event. The text begins with the role if the role has no column of its own.
function writerOf(row) {
    const named = run.roles.find(role => row.text.startsWith(`${role}: `));
    return row.isLink ? "link" : named ?? (row.side === 0 ? "client" : "server");
}

// Links to the rows of a work request: its post, its packets, its completion.
function kinOf(row) {
    if (row.request < 0)
        return [];
    const most = 12;
    const kin = byRequest[row.request].filter(index => index !== row.index);
    const name = index => (rows[index].isPacket ? `frame ${rows[index].frame}` : rows[index].kind);
    const links = kin.slice(0, most).flatMap(index => [" ", rowLink(index, name(index))]);
    return [el("p", {}, el("b", {}, requestText(row.request)), " also has: ", ...links,
               kin.length > most && ` and ${kin.length - most} more (w goes from one to the next)`)];
}

function eventDetail(row, fields) {
    const request = row.request >= 0 && ["chunk", "post_send", "wc"].includes(row.kind) ? run.requests[row.request] : null;
    return el("div", { class: "detail" },
        el("p", {}, `${row.kind} of the ${writerOf(row)} at ${seconds(row.t)} s`),
        ...kinOf(row),
        request && el("p", {}, `post → wire ${duration(spanOf(request, "wire"))}, wire → ACK ${duration(spanOf(request, "ack"))}, ` +
                               `post → completion ${duration(spanOf(request, "wc"))}`),
        el("table", { class: "fields" }, fields.map(([key, value]) => el("tr", {}, el("td", {}, key), el("td", {}, value)))));
}

const lines = text => text.split("\n").slice(0, -1);

function packetDetail(row, packed) {
    const spans = lines(packed.spans).map(line => line.split(" ")).map(([name, offset, length]) => [name, Number(offset), Number(length)]);
    const bytes = lines(packed.bytes).map(line => line.split(" ")).map(([offset, digits]) => [Number(offset), digits]);
    const fields = lines(packed.fields).map(line => [parseInt(line, 10), line.slice(line.indexOf(" ") + 1)]);
    const note = packed.note;
    const detail = el("div", { class: "detail" },
        el("p", {}, `Frame ${row.frame} at ${seconds(row.t)} s. `,
           row.cause ? `Cause: ${row.cause}. ` : "No event in the logs is its cause. ",
           note && el("b", {}, note)),
        ...kinOf(row),
        el("div", { class: "packet" }, headersOf(spans, fields), bytesOf(spans, bytes)));
    // Highlights the header under the pointer or in focus, and its bytes.
    const light = event => {
        const span = event.target.closest?.("[data-span]")?.dataset.span;
        for (const element of detail.querySelectorAll("[data-span]"))
            element.classList.toggle("lit", element.dataset.span === span);
    };
    detail.addEventListener("pointerover", light);
    detail.addEventListener("focusin", light);
    return detail;
}

function headersOf(spans, fields) {
    return el("div", { class: "headers" }, spans.map(([name, offset, length], index) => {
        const own = fields.filter(([field]) => run.fields[field].name.split(".")[0] === name);
        const lines = own.map(([field, value]) => {
            const { name: full, help } = run.fields[field];
            return el("tr", {}, el("td", {}, full), el("td", {}, value), el("td", {}, help));
        });
        const place = el("small", {}, ` ${bytesText(length)} at ${offset}`);
        return el("details", { class: `h-${name}`, "data-span": index, open: lines.length > 0 && !link.includes(name) },
            el("summary", {}, run.headers[name] ?? name, place), el("table", {}, lines));
    }));
}

// Headers that are closed at first: a reader of RDMA needs them least.
const link = ["eth", "vlan", "sll", "erf", "ip", "ipv6", "udp"];

// Sixteen bytes per line: offset, hexadecimal, text, each in the colour of its header. parts: [[offset, digits], ...].
function bytesOf(spans, parts) {
    const pre = el("pre", { class: "bytes", tabindex: 0, "aria-label": "Bytes" });
    let done = 0;
    for (const [offset, digits] of parts) {
        if (offset > done)
            pre.append(el("small", {}, `      ${bytesText(offset - done)} of the payload are only in the capture\n`));
        done = offset + digits.length / 2;
        for (let start = offset; start < done; start += bytesInLine)
            pre.append(...lineOfBytes(spans, digits, offset, start, Math.min(done, start + bytesInLine)));
    }
    const { 1: offset, 2: length } = spans.at(-1) ?? [0, 0, 0];
    if (offset + length > done)
        pre.append(el("small", {}, `      ${bytesText(offset + length - done)} more are only in the capture\n`));
    return pre;
}

const bytesInLine = 16;

function lineOfBytes(spans, digits, offset, start, end) {
    const byteAt = at => digits.slice(2 * (at - offset), 2 * (at - offset) + 2);
    const letterAt = at => {
        const code = parseInt(byteAt(at), 16);
        return code >= 0x20 && code < 0x7f ? String.fromCharCode(code) : "·";
    };
    const spanOfByte = at => spans.findIndex(([, from, length]) => at >= from && at < from + length);
    // Adjacent bytes of one header are one element.
    const coloured = (textOf, gap) => {
        const nodes = [];
        for (let at = start; at < end;) {
            const span = spanOfByte(at);
            const stop = Math.min(end, spans[span][1] + spans[span][2]);
            const text = Array.from({ length: stop - at }, (_, step) => textOf(at + step)).join(gap);
            nodes.push(el("span", { class: `h-${spans[span][0]}`, "data-span": span }, text), stop < end ? gap : "");
            at = stop;
        }
        return nodes;
    };
    return [el("span", { class: "offset" }, start.toString(16).padStart(4, "0") + "  "), ...coloured(byteAt, " "),
            "   ".repeat(bytesInLine - (end - start)) + "  ", ...coloured(letterAt, ""), "\n"];
}
