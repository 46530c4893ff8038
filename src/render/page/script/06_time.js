// The time range that all plots show, and the ticks of axes.
"use strict";

const timeView = {
    from: 0,
    to: 1,
    listeners: [],
    // The whole range: from the first packet to the last row. Before the first packet, programs only wait.
    start() {
        const packets = rows.filter(row => row.isPacket);
        const data = packets.filter(row => row.request >= 0);
        const ends = list => (list.length > 0 ? [list[0].t, list.at(-1).t] : [0, 0]);
        const pad = ([from, to]) => [from - (to - from) * 0.02 - 1000, to + (to - from) * 0.02 + 1000];
        this.whole = pad(packets.length > 0 ? [packets[0].t, rows.at(-1).t] : ends(rows));
        this.data = data.length > 0 ? pad(ends(data)) : null;
        [this.from, this.to] = this.whole;
        byId("whole").addEventListener("click", () => this.set(...this.whole));
        byId("data-only").addEventListener("click", () => this.set(...this.data));
        byId("data-only").hidden = !this.data;
    },
    set(from, to) {
        const least = 1000;
        if (to - from < least)
            to = from + least;
        [this.from, this.to] = [from, to];
        this.tell();
    },
    tell() {
        byId("shown-time").textContent = `${seconds(this.from)} s to ${seconds(this.to)} s: ${duration(Math.round(this.to - this.from))}`;
        for (const listener of this.listeners)
            listener();
    },
    zoom(factor, around = (this.from + this.to) / 2) {
        this.set(around - (around - this.from) * factor, around + (this.to - around) * factor);
    },
    pan(share) {
        const by = (this.to - this.from) * share;
        this.set(this.from + by, this.to + by);
    },
};

// Round steps: 1, 2 or 5 times a power of ten, about `count` of them.
function ticks(from, to, count) {
    const rough = (to - from) / count;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find(factor => factor * power >= rough);
    const found = [];
    for (let n = Math.ceil(from / step); n * step <= to; ++n)
        found.push(n * step);
    return { found, step };
}

function decades(from, to) {
    const found = [];
    for (let value = 10 ** Math.ceil(Math.log10(from) - 1e-9); value <= to * 1.0001; value *= 10)
        found.push(value);
    return found;
}

// Index of the first point at or after t.
function firstFrom(points, t) {
    let from = 0;
    let to = points.length;
    while (from < to) {
        const middle = (from + to) >> 1;
        points[middle][0] < t ? from = middle + 1 : to = middle;
    }
    return from;
}
