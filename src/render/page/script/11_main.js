// Assembles the page; themes and keys.
"use strict";

const themes = {
    names: ["system", "light", "dark"],
    chosen: 0,
    dark: matchMedia("(prefers-color-scheme: dark)"),
    start() {
        this.dark.addEventListener("change", () => { this.apply(); timeView.tell(); });
        byId("theme").addEventListener("click", () => this.next());
        this.apply();
    },
    next() {
        this.chosen = (this.chosen + 1) % this.names.length;
        this.apply();
        timeView.tell();
    },
    apply() {
        const isDark = this.chosen === 0 ? this.dark.matches : this.chosen === 2;
        document.documentElement.dataset.theme = isDark ? "dark" : "light";
        byId("theme").textContent = `Theme: ${this.names[this.chosen]}`;
    },
};

function pressed(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || byId("help").open)
        return;
    if (quiz.isOn && !["?", "t", "Escape"].includes(event.key))
        return;
    const search = byId("search");
    if (event.target === search) {
        if (event.key === "Escape")
            ladder.showAll();
        if (["Escape", "Enter", "ArrowDown"].includes(event.key)) {
            byId("rows").focus();
            if (ladder.list.placeOf(ladder.list.active) < 0)
                ladder.list.step(1);
            event.preventDefault();
        }
        return;
    }
    if (event.target.closest("select, input, textarea") && !quiz.isOn)
        return;
    const acts = {
        "/": () => { search.focus({ preventScroll: true }); search.select(); search.scrollIntoView({ block: "nearest", behavior: "instant" }); },
        "?": () => byId("help").showModal(),
        t: () => themes.next(),
        q: () => quiz.enter(),
        n: () => ladder.notable(1),
        p: () => ladder.notable(-1),
        w: () => ladder.nextKin(),
        Escape: () => (quiz.isOn ? quiz.leave() : ladder.showAll()),
    };
    if (event.target === byId("rows"))
        ladder.key(event);
    if (!event.defaultPrevented && acts[event.key]) {
        acts[event.key]();
        event.preventDefault();
    }
}

// Goes to the URL's target: a section, "#frame-4", or "#quiz". Call it after the sections have their final size.
async function goTo(hash) {
    const frame = Number(hash.match(/^#frame-(\d+)$/)?.[1]);
    if (byFrame.has(frame))
        await ladder.open(byFrame.get(frame));
    else if (hash === "#quiz")
        quiz.enter();
    else if (/^#[a-z]+$/.test(hash))
        scrollToSection(byId(hash.slice(1)));
}

// Element.scrollIntoView() would also scroll a page in which this one is embedded.
function scrollToSection(section) {
    const padding = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop);
    if (section)
        scrollTo({ top: section.getBoundingClientRect().top + scrollY - padding, behavior: "instant" });
}

async function main() {
    themes.start();
    await load();
    ladder.start();
    charts.start();
    sections.start();
    quiz.start();
    addEventListener("keydown", pressed);
    byId("help-button").addEventListener("click", () => byId("help").showModal());
    byId("loading").remove();
    await goTo(location.hash);
    addEventListener("hashchange", () => goTo(location.hash));
    document.documentElement.dataset.ready = "yes";
}

main().catch(error => {
    byId("loading")?.remove();
    byId("left-out").hidden = false;
    byId("left-out").textContent = `This page could not show its run: ${error}. It needs a browser from 2023 or later.`;
    throw error;
});
