// A list of any length: only visible items are in the document. All have the same height, apart from opened details.
"use strict";

class List {
    // render(id): the item's element, without its details. open(id): a promise of the details below it.
    constructor(box, { height, render, open = null, selected = () => {} }) {
        Object.assign(this, { box, height, render, open, selected });
        this.ids = [];         // in display order
        this.places = null;    // id -> place in ids
        this.opened = new Map();  // id -> {element, height}
        this.live = new Map();    // id -> element in the document
        this.active = -1;         // id of the selected item
        this.space = box.appendChild(el("div", { role: "presentation" }));
        this.space.style.position = "relative";
        this.sizes = new ResizeObserver(entries => this.resized(entries));
        box.addEventListener("scroll", () => this.draw(), { passive: true });
        new ResizeObserver(() => this.draw()).observe(box);
    }

    setIds(ids) {
        this.ids = ids;
        this.places = new Map(ids.map((id, place) => [id, place]));
        this.box.setAttribute("aria-rowcount", ids.length);
        this.forget();
        this.draw();
    }

    forget() {
        for (const element of this.live.values())
            element.remove();
        this.live.clear();
    }

    placeOf(id) {
        return this.places.get(id) ?? -1;
    }

    // The opened items that are shown: [place, height], sorted by place.
    openPlaces() {
        return [...this.opened]
            .map(([id, { height }]) => [this.placeOf(id), height])
            .filter(([place]) => place >= 0)
            .sort((a, b) => a[0] - b[0]);
    }

    topOf(place, open = this.openPlaces()) {
        return open.reduce((top, [at, height]) => top + (at < place ? height : 0), place * this.height);
    }

    placeAt(y, open) {
        let more = 0;
        for (const [at, height] of open) {
            const end = (at + 1) * this.height + more;
            if (y < end)
                break;
            if (y < end + height)
                return at;
            more += height;
        }
        return Math.max(0, Math.min(this.ids.length - 1, Math.floor((y - more) / this.height)));
    }

    draw() {
        const open = this.openPlaces();
        this.space.style.height = `${this.topOf(this.ids.length, open)}px`;
        if (this.ids.length === 0)
            return;
        const beyond = 8;
        const first = Math.max(0, this.placeAt(this.box.scrollTop, open) - beyond);
        const last = Math.min(this.ids.length - 1, this.placeAt(this.box.scrollTop + this.box.clientHeight, open) + beyond);
        const wanted = new Set(this.ids.slice(first, last + 1));
        for (const [id, element] of this.live)
            if (!wanted.has(id)) {
                element.remove();
                this.live.delete(id);
            }
        for (let place = first; place <= last; ++place)
            this.put(this.ids[place], place, open);
    }

    put(id, place, open) {
        let element = this.live.get(id);
        if (!element) {
            element = this.render(id);
            element.classList.add("item");
            element.dataset.id = id;
            element.id = `${this.box.id}-${id}`;
            element.setAttribute("aria-rowindex", place + 1);
            const below = this.opened.get(id);
            if (below)
                element.append(below.element);
            this.live.set(id, element);
            this.space.append(element);
            this.mark(element, id);
        }
        element.style.top = `${this.topOf(place, open)}px`;
    }

    mark(element, id) {
        element.classList.toggle("active", id === this.active);
        if (this.open) {
            element.setAttribute("aria-selected", id === this.active);
            element.setAttribute("aria-expanded", this.opened.has(id));
        }
    }

    resized(entries) {
        for (const { target, borderBoxSize } of entries) {
            const below = this.opened.get(Number(target.dataset.below));
            if (below)
                below.height = borderBoxSize[0].blockSize;
        }
        this.draw();
    }

    // Selects an item and scrolls to it. Does nothing if the item is hidden: the caller must show it first.
    select(id, { middle = false } = {}) {
        const place = this.placeOf(id);
        if (place < 0)
            return;
        const before = this.active;
        this.active = id;
        this.box.setAttribute("aria-activedescendant", `${this.box.id}-${id}`);
        const top = this.topOf(place);
        const room = this.box.clientHeight;
        if (middle || top < this.box.scrollTop || top + this.height > this.box.scrollTop + room)
            this.box.scrollTop = middle ? top - room / 3 : top < this.box.scrollTop ? top : top + this.height - room;
        this.draw();
        for (const at of [before, id])
            if (this.live.has(at))
                this.mark(this.live.get(at), at);
        this.selected(id);
    }

    step(count) {
        const place = this.placeOf(this.active);
        const next = place < 0 ? (count > 0 ? 0 : this.ids.length - 1) : place + count;
        if (this.ids.length > 0)
            this.select(this.ids[Math.max(0, Math.min(this.ids.length - 1, next))]);
    }

    async toggle(id) {
        if (this.opened.has(id)) {
            const { element } = this.opened.get(id);
            this.sizes.unobserve(element);
            element.remove();
            this.opened.delete(id);
        } else {
            const element = el("div", { "data-below": id });
            this.opened.set(id, { element, height: 0 });
            element.append(await this.open(id));
            this.live.get(id)?.append(element);
            this.sizes.observe(element);
        }
        if (this.live.has(id))
            this.mark(this.live.get(id), id);
        this.draw();
    }

    // Handles the keys common to all lists; returns false for any other key.
    key(event) {
        const page = Math.max(1, Math.floor(this.box.clientHeight / this.height) - 1);
        const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
        if (event.key in steps)
            this.step(Math.max(-this.ids.length, Math.min(this.ids.length, steps[event.key])));
        else if (event.key === "Enter" && this.active >= 0 && this.placeOf(this.active) >= 0)
            this.activate(this.active);
        else
            return false;
        event.preventDefault();
        return true;
    }

    activate(id) {
        if (this.open)
            this.toggle(id);
    }
}
