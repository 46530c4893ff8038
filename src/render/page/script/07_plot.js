// A plot over the run's time: points and steps on a canvas, with axes, a legend, and zoom.
"use strict";

class Plot {
    // measure(): {yFrom, yTo, log, yText(value), series: [{colour, name, points: [[t, y, row, text], ...], steps, shape}]}; the
    // points of a series are sorted by t. Or {none: "why the plot is empty"}.
    constructor(box, label, measure, height = 230) {
        Object.assign(this, { box, label, measure, height });
        box.classList.add("plot");
        this.canvas = el("canvas", { tabindex: 0, role: "img", height });
        this.canvas.style.height = `${height}px`;
        this.legend = el("ul", { class: "legend" });
        this.none = el("p", { class: "none", hidden: true });
        box.append(this.canvas, this.none);
        box.after(this.legend);
        for (const [name, act] of Object.entries({
            pointermove: event => this.moved(event), pointerleave: () => tip.hide(), pointerdown: event => this.pressed(event),
            pointerup: event => this.released(event), dblclick: () => timeView.set(...timeView.whole), keydown: event => this.key(event) }))
            this.canvas.addEventListener(name, act);
        timeView.listeners.push(() => this.refresh());
        new ResizeObserver(() => this.refresh()).observe(box);
    }

    // Draws at most once per frame.
    refresh() {
        if (!this.asked)
            this.asked = requestAnimationFrame(() => {
                this.asked = 0;
                this.draw();
            });
    }

    draw() {
        this.shown = this.measure();
        const none = this.shown.none;
        this.canvas.hidden = Boolean(none);
        this.none.hidden = !none;
        this.none.textContent = none ?? "";
        this.legend.replaceChildren();
        if (none)
            return;
        const width = this.box.clientWidth;
        const scale = devicePixelRatio;
        this.canvas.width = width * scale;
        this.canvas.height = this.height * scale;
        this.area = { left: 84, right: width - 14, top: 12, bottom: this.height - 26 };
        this.pen = this.canvas.getContext("2d");
        this.pen.scale(scale, scale);
        this.pen.font = '11.5px system-ui, sans-serif';
        this.axes();
        this.pen.save();
        this.pen.beginPath();
        this.pen.rect(this.area.left, 0, this.area.right - this.area.left, this.height);
        this.pen.clip();
        for (const series of this.shown.series)
            this.drawSeries(series);
        if (this.dragged)
            this.drawBand();
        this.pen.restore();
        const count = this.shown.series.reduce((sum, { points }) => sum + points.length, 0);
        this.canvas.setAttribute("aria-label", `${this.label}: ${this.shown.series.map(({ name }) => name).join(", ")}; ${count} points`);
        for (const { name, colour: tone, points } of this.shown.series) {
            const dot = el("span", { class: "dot" });
            dot.style.background = colour(tone);
            this.legend.append(el("li", {}, dot, `${name}${this.shown.counts === false ? "" : ` (${points.length.toLocaleString("en")})`}`));
        }
    }

    x(t) {
        const { left, right } = this.area;
        return left + (t - timeView.from) / (timeView.to - timeView.from) * (right - left);
    }

    timeAt(x) {
        const { left, right } = this.area;
        return timeView.from + (x - left) / (right - left) * (timeView.to - timeView.from);
    }

    y(value) {
        const { yFrom, yTo, log } = this.shown;
        const along = log ? Math.log(Math.max(value, yFrom) / yFrom) / Math.log(yTo / yFrom) : (value - yFrom) / (yTo - yFrom);
        return this.area.bottom - along * (this.area.bottom - this.area.top);
    }

    axes() {
        const { left, right, top, bottom } = this.area;
        const { yFrom, yTo, log, yText } = this.shown;
        this.pen.strokeStyle = colour("line");
        this.pen.fillStyle = colour("dim");
        this.pen.lineWidth = 1;
        const line = (x1, y1, x2, y2) => {
            this.pen.beginPath();
            this.pen.moveTo(x1, y1);
            this.pen.lineTo(x2, y2);
            this.pen.stroke();
        };
        const across = ticks(timeView.from, timeView.to, Math.max(2, (right - left) / 110));
        const digits = Math.max(0, Math.min(9, -Math.floor(Math.log10(across.step / 1e9))));
        this.pen.textAlign = "center";
        for (const t of across.found) {
            line(this.x(t), top, this.x(t), bottom);
            this.pen.fillText(`${(t / 1e9).toFixed(digits)} s`, this.x(t), bottom + 16);
        }
        this.pen.textAlign = "right";
        const up = log ? decades(yFrom, yTo) : ticks(yFrom, yTo, 5).found;
        for (const value of up) {
            line(left, this.y(value), right, this.y(value));
            this.pen.fillText(yText(value), left - 8, this.y(value) + 4);
        }
    }

    drawSeries({ points, colour: tone, steps, shape }) {
        this.pen.fillStyle = this.pen.strokeStyle = colour(tone);
        if (steps) {
            this.pen.lineWidth = 1.5;
            this.pen.beginPath();
            points.forEach(([t, value], index) => {
                const until = points[index + 1]?.[0] ?? t;
                this.pen.lineTo(this.x(t), this.y(value));
                this.pen.lineTo(this.x(until), this.y(value));
            });
            this.pen.stroke();
            return;
        }
        const many = points.length > 1000;
        for (const [t, value] of points) {
            const x = this.x(t);
            if (x < this.area.left - 5 || x > this.area.right + 5)
                continue;
            (many && shape !== "cross" ? marks.small : marks[shape])(this.pen, x, this.y(value));
        }
    }

    drawBand() {
        this.pen.globalAlpha = 0.25;
        this.pen.fillStyle = colour("focus");
        const [a, b] = this.dragged;
        this.pen.fillRect(Math.min(a, b), this.area.top, Math.abs(b - a), this.area.bottom - this.area.top);
        this.pen.globalAlpha = 1;
    }

    // The point nearest to the pointer, within a finger's width.
    nearest(x, y) {
        let best = null;
        let least = 14 ** 2;
        for (const { points, steps } of this.shown?.series ?? []) {
            if (steps)
                continue;
            const end = this.timeAt(x + 14);
            for (let at = firstFrom(points, this.timeAt(x - 14)); at < points.length && points[at][0] <= end; ++at) {
                const far = (this.x(points[at][0]) - x) ** 2 + (this.y(points[at][1]) - y) ** 2;
                if (far < least)
                    [least, best] = [far, points[at]];
            }
        }
        return best;
    }

    // The value of each series of steps at this time.
    levels(x) {
        const t = this.timeAt(x);
        return this.shown.series.filter(({ steps }) => steps).map(({ name, points }) => {
            const at = firstFrom(points, t + 1) - 1;
            return at >= 0 && at < points.length ? `${name}: ${this.shown.yText(points[at][1])}` : null;
        }).filter(Boolean);
    }

    moved(event) {
        if (!this.area || this.shown.none)
            return;
        if (this.start !== undefined && Math.abs(event.offsetX - this.start) > 4) {
            this.dragged = [this.start, event.offsetX];
            tip.hide();
            this.refresh();
            return;
        }
        const point = this.nearest(event.offsetX, event.offsetY);
        const text = point ? `${seconds(point[0])} s\n${point[3]}` : this.levels(event.offsetX).join("\n");
        this.canvas.style.cursor = point?.[2] >= 0 ? "pointer" : "crosshair";
        text ? tip.show(text, event.clientX, event.clientY) : tip.hide();
    }

    pressed(event) {
        if (event.button !== 0)
            return;
        this.start = event.offsetX;
        this.canvas.setPointerCapture(event.pointerId);
    }

    released(event) {
        const dragged = this.dragged;
        this.start = this.dragged = undefined;
        if (dragged) {
            const [a, b] = dragged.map(x => this.timeAt(Math.max(this.area.left, Math.min(this.area.right, x))));
            timeView.set(Math.min(a, b), Math.max(a, b));
            return;
        }
        const point = this.area && this.nearest(event.offsetX, event.offsetY);
        if (point?.[2] >= 0)
            ladder.show(point[2]);
    }

    key(event) {
        const acts = { "+": () => timeView.zoom(0.5), "=": () => timeView.zoom(0.5), "-": () => timeView.zoom(2), "0": () => timeView.set(...timeView.whole),
                       ArrowLeft: () => timeView.pan(-0.2), ArrowRight: () => timeView.pan(0.2) };
        if (acts[event.key]) {
            acts[event.key]();
            event.preventDefault();
        }
    }
}

const marks = {
    small: (pen, x, y) => pen.fillRect(Math.round(x) - 1, Math.round(y) - 1, 2, 2),
    full: (pen, x, y) => {
        pen.beginPath();
        pen.arc(x, y, 3, 0, 7);
        pen.fill();
    },
    ring: (pen, x, y) => {
        pen.lineWidth = 1.5;
        pen.beginPath();
        pen.arc(x, y, 4.5, 0, 7);
        pen.stroke();
    },
    cross: (pen, x, y) => {
        pen.lineWidth = 2;
        pen.beginPath();
        pen.moveTo(x - 5, y - 5);
        pen.lineTo(x + 5, y + 5);
        pen.moveTo(x - 5, y + 5);
        pen.lineTo(x + 5, y - 5);
        pen.stroke();
    },
};
