/* Predict, then see: the timeline stays hidden until a number or a drawing has been committed; the answer comes from the server, after the guess. */

"use strict";

class Exercise {
  /** ask: exercise, guess (a number as {guess}, issue slots as {drawn}) -> promise of the judgement; committed: called when the result may be seen. */
  constructor(place, ask, committed) {
    const opened = () => {
      this.open = true;
      committed();
    };
    Object.assign(this, { place, ask, opened, current: null, open: true });
    this.drawing = new Drawing(place.querySelector("#drawing"), (drawn) => ask(this.current.name, { drawn }), opened);
    place.querySelector("#number").addEventListener("submit", (event) => {
      event.preventDefault();
      this.commit(Number(place.querySelector("#guess").value));
    });
    place.querySelector(".hint").addEventListener("click", () => this.hint());
  }

  /** Whether the result may be seen. */
  get isOpen() {
    return this.current === null || this.open;
  }

  /** exercise: as the server describes it, null = none. */
  show(exercise) {
    const { place } = this;
    Object.assign(this, { current: exercise, open: false, hints: 0 });
    place.hidden = exercise === null;
    if (!exercise) return;
    place.querySelector("h2").textContent = exercise.title;
    place.querySelector(".question").textContent = exercise.question;
    place.querySelector(".unit").textContent = exercise.unit;
    place.querySelector(".hints").replaceChildren();
    place.querySelector(".verdict").textContent = "";
    place.querySelector(".verdict").className = "verdict";
    place.querySelector("#guess").value = "";
    place.querySelector(".hint").hidden = !exercise.hints.length;
    this.drawing.show(exercise.draw);
  }

  hint() {
    const item = document.createElement("li");
    item.textContent = this.current.hints[this.hints++];
    this.place.querySelector(".hints").append(item);
    this.place.querySelector(".hint").hidden = this.hints >= this.current.hints.length;
  }

  async commit(guess) {
    const answer = await this.ask(this.current.name, { guess }), verdict = this.place.querySelector(".verdict");
    if (!answer.result) return void (verdict.textContent = answer.error?.text ?? "");
    const { right, answer: value, unit, explanation } = answer.result;
    verdict.textContent = `${right ? "Right" : "Not quite"}: you said ${guess}, the simulator ${Number(value.toPrecision(4))} ${unit}. ${explanation}`;
    verdict.className = `verdict ${right ? "right" : "wrong"}`;
    verdict.scrollIntoView({ block: "nearest" });
    this.opened();
  }
}
