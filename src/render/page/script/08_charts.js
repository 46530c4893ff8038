// The plots: PSNs, throughput, latency; and the states of the queue pairs above them.
"use strict";

// Phases of a request. Only "wire" compares two hosts' clocks.
function spanOf(request, which) {
    const between = (from, to) => (from === null || to === null ? null : to - from);
    switch (which) {
        case "wire":
            return between(request.posted, request.seen);
        case "ack":
            return between(request.seen, request.acknowledged);
        default:
            return between(request.posted, request.completed);
    }
}

const charts = {
    start() {
        this.packets = rows.filter(row => row.isPacket);
        timeView.start();
        this.tracks();
        this.collectives();
        this.psns();
        new Plot(byId("throughput-plot"), "Throughput", () => this.throughput());
        const latency = this.latency();
        new Plot(byId("latency-plot"), "Latency of work requests", () => latency);
        timeView.tell();
    },

    tracks() {
        const most = 200;
        const shown = run.tracks.slice(0, most);
        const draw = () => byId("tracks").replaceChildren(...shown.map(track => this.track(track)),
            run.tracks.length > most ? el("p", { class: "hint" }, `The first ${most} of ${run.tracks.length} queue pairs.`) : "",
            run.tracks.length === 0 ? el("p", { class: "none" }, "The logs have no queue pair.") : "");
        timeView.listeners.push(draw);
    },

    // One bar for each rank and inbox, which takes one chunk after the other.
    collectives() {
        const most = 1000;
        const bars = new Map();
        for (const request of run.requests)
            if (request.chunk?.row >= 0) {
                const { rank, to, inbox } = request.chunk;
                const name = `rank ${rank} → ${to}, inbox ${inbox}`;
                bars.set(name, bars.get(name) ?? []).get(name).push(request);
            }
        byId("collectives-head").hidden = bars.size === 0;
        const sorted = [...bars].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
        const draw = () => byId("collectives").replaceChildren(...sorted.map(([name, requests]) => {
            const shown = requests.filter(({ seen, completed }) => seen < timeView.to && (completed ?? Infinity) > timeView.from);
            return this.bar(requests[0].role, name, shown.slice(0, most).map(({ seen, completed, chunk }) =>
                ({ from: seen, to: completed ?? Infinity, kind: "chunk", label: `${chunk.number}`, text: rows[chunk.row].text, row: chunk.row })));
        }));
        timeView.listeners.push(draw);
    },

    track({ role, name, states }) {
        return this.bar(role, name, states.map(({ t, state, detail, is_inferred: isInferred, row }, index) => ({
            from: t, to: states[index + 1]?.t ?? Infinity, kind: state, label: state, row,
            text: `${state} from ${seconds(t)} s${detail ? `: ${detail}` : ""}${isInferred ? "; inferred from the log" : ""}` })));
    },

    // A name, and its parts in the time shown; each leads to its row.
    bar(role, name, parts) {
        const share = t => Math.max(0, Math.min(100, (t - timeView.from) / (timeView.to - timeView.from) * 100));
        const bar = el("div", { class: "bar" });
        for (const { from, to, kind, label, text, row } of parts) {
            const [left, right] = [share(from), share(to)];
            if (right <= left)
                continue;
            const button = el("button", { type: "button", class: `s-${kind}`, "aria-label": text, onclick: () => row >= 0 && ladder.show(row),
                onpointermove: event => tip.show(text, event.clientX, event.clientY), onpointerleave: () => tip.hide() }, label);
            button.style.left = `${left}%`;
            button.style.width = `${right - left}%`;
            bar.append(button);
        }
        return el("div", { class: "track" }, el("span", { class: `name ${role}`, title: name }, name), bar);
    },

    psns() {
        const select = byId("psn-direction");
        const counts = run.senders.map(() => 0);
        for (const row of this.packets)
            if (row.psns >= 0)
                ++counts[row.psns];
        run.senders.forEach(({ text }, index) => select.append(el("option", { value: index }, `${text}: ${counted(counts[index], "packet")}`)));
        select.value = counts.indexOf(Math.max(...counts));
        select.hidden = run.senders.length === 0;
        const plots = new Map();  // sender -> plot; plots do not change
        const measure = sender => plots.get(sender) ?? plots.set(sender, this.psnPlot(sender)).get(sender);
        const plot = new Plot(byId("psn-plot"), "PSNs", () => measure(Number(select.value)), 280);
        select.addEventListener("change", () => plot.refresh());
    },

    // PSNs as distances from the first one seen, modulo 2^24: most are after it, a few shortly before it.
    psnPlot(sender) {
        const own = this.packets.filter(row => row.psns === sender && row.psn >= 0);
        if (run.senders.length === 0 || own.length === 0)
            return { none: "No packet of a connected queue pair has a work request." };
        const first = own[0].psn;
        const from = psn => ((psn - first + 0x400000) & 0xffffff) - 0x400000;
        const point = row => [row.t, from(row.psn), row.index, `psn ${hex(row.psn, 6)}: ${row.text}\n${row.cause}`];
        const pick = has => own.filter(has).map(point);
        const isNak = row => row.kind === "nak" || row.kind === "rnr";
        const series = [
            { name: "requests", colour: "write", shape: "full", points: pick(row => !row.isResponse && row.seen === Seen.first) },
            { name: "responses", colour: "read", shape: "ring", points: pick(row => row.isResponse && !isNak(row) && row.seen !== Seen.again) },
            { name: "retransmitted", colour: "again", shape: "full", points: pick(row => row.seen === Seen.again && !isNak(row)) },
            { name: "late", colour: "send", shape: "full", points: pick(row => row.seen === Seen.late && !row.isResponse) },
            { name: "NAKs", colour: "nak", shape: "cross", points: pick(isNak) },
        ].filter(({ points }) => points.length > 0);
        const values = series.flatMap(({ points }) => points.map(([, y]) => y));
        const [least, most] = values.reduce(([a, b], y) => [Math.min(a, y), Math.max(b, y)], [Infinity, -Infinity]);
        const pad = Math.max(1, (most - least) * 0.06);
        return { series, yFrom: least - pad, yTo: most + pad,
                 yText: value => (Number.isInteger(value) ? hex((first + value) & 0xffffff, 6) : "") };
    },

    // Payload in equal intervals of the time shown. If packets of the run are left out, in the intervals counted for the whole run.
    throughput() {
        const named = [["RoCE client → server", "client", false, 0], ["RoCE server → client", "server", false, 1],
                       ["TCP client → server", "exchange", true, 0], ["TCP server → client", "cm", true, 1]];
        const series = run.left_out.packets > 0 ? this.wholeBins(named) : this.bins(named);
        if (series.length === 0)
            return { none: "No packet carried a payload." };
        const most = Math.max(...series.flatMap(({ points }) => points.map(([, y]) => y)));
        return { series, counts: false, yFrom: 0, yTo: most > 0 ? most * 1.08 : 1, yText: value => `${Number(value.toPrecision(3))} MiB/s` };
    },

    bins(named) {
        const count = 200;
        const width = (timeView.to - timeView.from) / count;
        const sums = named.map(() => new Array(count + 1).fill(0));
        const has = named.map(() => false);
        for (const row of this.packets) {
            const index = row.payload > 0 && row.side < 2 ? 2 * Number(row.kind === "exchange") + row.side : -1;
            if (index < 0)
                continue;
            has[index] = true;
            const bin = Math.floor((row.t - timeView.from) / width);
            if (bin >= 0 && bin < count)
                sums[index][bin] += row.payload;
        }
        const rate = bytes => bytes / 2 ** 20 / (width / 1e9);
        return named.map(([name, tone], index) => ({ name, colour: tone, steps: true,
            points: sums[index].map((bytes, bin) => [timeView.from + bin * width, rate(bytes), -1, ""]) })).filter((_, index) => has[index]);
    },

    wholeBins(named) {
        const { from, width, sums } = run.throughput;
        const rate = bytes => bytes / 2 ** 20 / (width / 1e9);
        return named.map(([name, tone], index) => ({ name, colour: tone, steps: true,
            points: sums[index].map((bytes, bin) => [from + bin * width, rate(bytes), -1, ""]) })).filter(({ points }) => points.some(([, y]) => y > 0));
    },

    latency() {
        const named = [["post → wire", "send", "wire"], ["wire → ACK", "read", "ack"], ["post → completion", "client", "wc"]];
        const requests = run.requests.filter(request => request.row >= 0);
        const series = named.map(([name, tone, which]) => ({ name, colour: tone, shape: "full",
            points: requests.filter(request => spanOf(request, which) > 0)
                .map(request => [request.posted, spanOf(request, which), request.row,
                                 `${name} ${duration(spanOf(request, which))}\n${request.role} wr ${request.wr_id} ${request.opcode} ${bytesText(request.length)}`])
                .sort((a, b) => a[0] - b[0]) })).filter(({ points }) => points.length > 0);
        if (series.length === 0)
            return { none: "No work request has both its post and its completion here." };
        const values = series.flatMap(({ points }) => points.map(([, y]) => y));
        const [least, most] = values.reduce(([a, b], y) => [Math.min(a, y), Math.max(b, y)], [Infinity, -Infinity]);
        return { series, log: true, yFrom: 10 ** Math.floor(Math.log10(least)), yTo: 10 ** Math.ceil(Math.log10(most * 1.001)), yText: duration };
    },
};
