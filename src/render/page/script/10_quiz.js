// "What comes next?": the questions of rocecap predict. Verdicts and reasons come from src/render/page/quiz.hpp; here answers are only
// compared with them.
"use strict";

const Grade = { right: "right", nearly: "nearly", wrong: "wrong" };

const quiz = {
    isOn: false,

    start() {
        if (!run.quiz)
            return;
        byId("quiz-start").hidden = false;
        byId("quiz-start").addEventListener("click", () => this.enter());
        byId("quiz-leave").addEventListener("click", () => this.leave());
        byId("quiz-show").addEventListener("click", () => this.answer(null));
        byId("quiz-hint-button").addEventListener("click", () => { byId("quiz-hint").textContent = this.text(this.asked.ask.hint); });
        byId("quiz-question").addEventListener("submit", event => {
            event.preventDefault();
            this.answer(this.chosen());
        });
        byId("quiz-kinds").append(...run.quiz.kinds.map((kind, index) => el("label", {},
            el("input", { type: "radio", name: "kind", value: index, required: true }), el("span", {}, kind))));
    },

    // Hides all other sections: they show the answers. A new quiz starts from the beginning.
    enter() {
        if (!run.quiz || this.isOn)
            return;
        Object.assign(this, { isOn: true, next: 0, asked: null, score: { asked: 0, right: 0, nearly: 0, wrong: 0 } });
        this.scrolledTo = scrollY;
        tip.hide();
        document.body.classList.add("quizzing");
        scrollTo({ top: 0, behavior: "instant" });
        byId("quiz-packets").replaceChildren(run.quiz.before > 0 && el("p", { class: "event" }, `${counted(run.quiz.before, "packet")} before these`) || "");
        byId("quiz-verdict").textContent = "";
        this.showScore();
        this.advance();
    },

    leave() {
        if (!this.isOn)
            return;
        this.isOn = false;
        document.body.classList.remove("quizzing");
        byId("quiz-packets").replaceChildren();
        scrollTo({ top: this.scrolledTo, behavior: "instant" });
        byId("quiz-start").focus({ preventScroll: true });
    },

    text: index => run.quiz.texts[index] ?? "",

    // Shows the packets up to the next question, or up to the end.
    advance() {
        const { steps } = run.quiz;
        this.asked = null;
        for (; this.next < steps.length && !this.asked; ++this.next) {
            this.showEvents(steps[this.next]);
            if (steps[this.next].ask)
                this.asked = steps[this.next];
            else
                this.showPacket(steps[this.next]);
        }
        const box = byId("quiz-packets");
        byId("quiz-question").hidden = !this.asked;
        if (this.asked) {
            byId("quiz-question").reset();
            byId("quiz-hint").textContent = "";
            byId("quiz-sender").textContent = `${this.text(this.asked.ask.sender)} Which kind and PSN?`;
            byId("quiz-kinds").querySelector("input").focus({ preventScroll: true });
        } else {
            box.append(el("p", { class: "event" }, run.quiz.goes_on ? "The run has more packets; the questions end here." : "The run ends here."));
            byId("quiz-leave").focus({ preventScroll: true });
        }
        box.scrollTop = box.scrollHeight;
        byId("quiz-question").scrollIntoView({ block: "nearest", behavior: "instant" });
    },

    showEvents({ events = [] }) {
        byId("quiz-packets").append(...events.map(text => el("p", { class: "event" }, `The link emulator: ${text.replace(/ +/g, " ")}`)));
    },

    showPacket({ frame, psn }, grade = "") {
        const row = rows[byFrame.get(frame)];
        const marks = { right: "✓ ", nearly: "≈ ", wrong: "✗ " };
        byId("quiz-packets").append(el("div", { class: `step${grade && ` asked ${grade}-answer`}`, "data-frame": frame },
            el("span", { class: "cell number" }, grade && el("span", { class: "mark", title: grade }, marks[grade] ?? ""), `${frame}`),
            el("span", { class: "cell time" }, seconds(row.t)),
            el("span", { class: `cell wire arrow ${["right", "left", ""][row.side]} k-${row.kind} ${row.kind}` },
                el("span", { class: "label" }, this.relative(row.text, psn)))));
    },

    // The text of a packet with its PSN as a distance, and without the queue pair if there is only one.
    relative(text, psn) {
        return text.replace(/psn 0x[0-9a-f]{6}( qp 0x[0-9a-f]{6})?/, (_, qp = "") => `${this.psnText(psn)}${run.quiz.is_one ? "" : qp}`);
    },

    psnText: psn => `PSN ${psn < 0 ? psn : `+${psn}`}`,

    chosen() {
        const psn = byId("quiz-psn").value;
        return { kind: Number(byId("quiz-question").elements.kind.value), psn: psn === "" ? null : Number(psn) };
    },

    // answer: {kind, psn}, where a psn of null means that only the kind counts; null: show the packet without an answer.
    answer(answer) {
        const { frame, psn, ask } = this.asked;
        const grade = answer === null ? "" : !ask.right.includes(answer.kind) ? Grade.wrong
            : answer.psn === null || answer.psn === psn ? Grade.right : Grade.nearly;
        ++this.score.asked;
        if (grade)
            ++this.score[grade];
        this.showPacket(this.asked, grade || "shown");
        const what = `Frame ${frame} is ${run.quiz.kinds[ask.right[0]]} ${this.psnText(psn)}`;
        byId("quiz-verdict").className = `${grade}-answer`;
        byId("quiz-verdict").replaceChildren(...(grade === "" ? [`${what}.`] : [el("b", {}, grade), ...this.explained(what, answer, grade)]));
        this.showScore();
        this.advance();
    },

    explained(what, answer, grade) {
        if (grade === Grade.right)
            return [`. ${what}.`];
        const [lower, other] = this.asked.ask.why[answer.kind];
        const why = this.text(answer.psn !== null && answer.psn < this.asked.psn ? lower : other);
        return [`${why && `: ${why}`}. ${what}, not ${run.quiz.kinds[answer.kind]}${answer.psn === null ? "" : ` ${this.psnText(answer.psn)}`}.`];
    },

    showScore() {
        const { asked, right, nearly, wrong } = this.score;
        const unanswered = asked - right - nearly - wrong;
        if (asked === 0) {
            byId("quiz-score").textContent = counted(run.quiz.steps.filter(({ ask }) => ask).length, "question");
            return;
        }
        byId("quiz-score").textContent = `${asked} asked: ${right} right, ${nearly} nearly, ${wrong} wrong${unanswered > 0 ? `, ${unanswered} shown without a prediction` : ""}`;
    },
};
