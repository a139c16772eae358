/* What the page saves: the timeline as a page or a picture, the state as a notebook or as files for the command line. */

"use strict";

class Saves {
  constructor(lab) {
    this.lab = lab;
    get("save-page").addEventListener("click", () => this.page());
    get("save-picture").addEventListener("click", () => this.pictures());
    get("save-notebook").addEventListener("click", () => this.texts("/notebook"));
    get("save-files").addEventListener("click", () => this.texts("/export"));
  }

  /** The answer to a request about the state that is shown; null when there is none, which the page then says. */
  async ask(address, doing) {
    const { lab } = this, said = new URLSearchParams(lab.fragment), from = Number(said.get("from")), to = Number(said.get("to"));
    const view = to > from ? { window: [from, to - 1], sm: lab.sm } : {}; // the cycles and the SM that the timeline shows
    get("busy").textContent = doing;
    const answer = await lab.post(address, { state: lab.now(), ...view });
    get("busy").textContent = "";
    if (answer.error) lab.complain(answer.error);
    return answer.result ?? null;
  }

  async page() {
    const result = this.lab.exercise.isOpen && await this.ask("/page", "writing the page ...");
    if (result) this.save(`/page/${result.page}?save=1`, "timeline.html");
  }

  async pictures() {
    const result = this.lab.exercise.isOpen && await this.ask("/pictures", "drawing ...");
    for (const [name, data] of Object.entries(result || {})) this.save(`data:image/png;base64,${data}`, name);
  }

  async texts(address) {
    for (const [name, text] of Object.entries(await this.ask(address, "writing ...") ?? {})) {
      const made = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
      this.save(made, name);
      setTimeout(() => URL.revokeObjectURL(made), 1000);
    }
  }

  save(address, name) {
    Object.assign(document.createElement("a"), { href: address, download: name }).click();
    get("busy").textContent = `saved ${name}`;
  }
}
