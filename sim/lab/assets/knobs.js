/* Sliders from the server's description of fields: a range and a number beside it, or words to choose from. Moved ones can be put back. */

"use strict";

class Knobs {
  /** values: field -> number or word, the moved ones alone; changed: called after each move. */
  constructor(place, changed) {
    Object.assign(this, { place, changed, values: {}, described: [], free: null });
  }

  /** free: the fields that may be moved, null = all. */
  show(described, values, free = null) {
    Object.assign(this, { described, values: { ...values }, free });
    this.place.replaceChildren(...described.filter((knob) => free === null || free.includes(knob.field)).map((knob) => this.knob(knob)));
  }

  knob(knob) {
    const place = document.createElement("div"), label = document.createElement("label"), name = document.createElement("span");
    const own = this.values[knob.field];
    place.className = "knob";
    place.classList.toggle("moved", own !== undefined);
    const says = knob.value === null ? knob.source : `this GPU's own: ${knob.value} ${knob.unit}; ${knob.source}`;
    place.title = `${knob.field}: ${knob.meaning}\n${says}`;
    name.textContent = knob.label;
    label.append(name);
    place.append(label);
    const set = (value) => {
      if (value === undefined || value === knob.value) delete this.values[knob.field];
      else this.values[knob.field] = value;
      place.classList.toggle("moved", knob.field in this.values);
      this.changed();
    };
    if (knob.choices.length) label.append(this.choice(knob, own, set));
    else this.range(knob, own, set, place, label);
    return place;
  }

  choice(knob, own, set) {
    const select = document.createElement("select");
    select.append(...knob.choices.map((word) => new Option(word, word)));
    select.value = own ?? knob.value;
    select.addEventListener("change", () => set(select.value));
    return select;
  }

  range(knob, own, set, place, label) {
    const slider = document.createElement("input"), field = document.createElement("input"), unit = document.createElement("small");
    Object.assign(slider, { type: "range", min: knob.low, max: knob.high, step: knob.step });
    Object.assign(field, { type: "number", step: "any", placeholder: knob.value ?? "launch" });
    slider.value = own ?? knob.value ?? knob.low;
    field.value = own ?? knob.value ?? "";
    field.setAttribute("aria-label", `${knob.label}, ${knob.unit}`);
    slider.setAttribute("aria-label", `${knob.label}, slider`);
    unit.textContent = knob.unit;
    slider.addEventListener("input", () => {
      field.value = slider.value;
      set(Number(slider.value));
    });
    field.addEventListener("change", () => {
      const value = field.value === "" ? undefined : Number(field.value);
      slider.value = value ?? knob.value ?? knob.low;
      if (value === undefined) field.value = knob.value ?? "";
      set(value);
    });
    label.append(field);
    place.append(unit, slider);
  }
}
