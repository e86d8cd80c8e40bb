// Keys and pointing. Every page works without this file.
"use strict";

const items = () => [...document.querySelectorAll("[data-item]")].filter((one) => one.offsetParent);
const typing = (one) => one.matches("input:not([type=radio], [type=checkbox]), select, textarea");

function step(by) {
  const all = items();
  if (!all.length) return;
  const at = all.indexOf(document.activeElement.closest("[data-item]"));
  const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by;
  const one = all[Math.min(all.length - 1, Math.max(0, next))];
  one.focus();
  one.scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (event) => {
  const at = document.activeElement;
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === "Escape") {
    const open = at.closest("details[open]");
    if (open) {
      open.open = false;
      open.querySelector("summary").focus();
    } else at.blur();
    return;
  }
  if (typing(at)) return;
  const among = at.closest("[data-item]");
  if (event.key === "/") {
    const field = document.querySelector("[data-search]");
    if (field) {
      field.focus();
      field.select();
    } else location.href = "/";
  } else if (event.key === "h") location.href = "/";
  else if (event.key === "w" && among) among.closest("li, tr")?.querySelector("a[href*='/why?']")?.click();
  else if (event.key === "a" || event.key === "b") {
    const radio = among?.closest("tr")?.querySelector(`input[name=${event.key}]`);
    if (!radio) return;
    radio.checked = true;
  } else if (event.key === "c") document.querySelector("form[action='/compare'] button")?.click();
  else if (event.key === "j" || (among && event.key === "ArrowDown")) step(1);
  else if (event.key === "k" || (among && event.key === "ArrowUp")) step(-1);
  else return;
  event.preventDefault();
});

// A section is the same in the list and in the charts.
function light(key, on) {
  for (const one of document.querySelectorAll("[data-hit], [data-line]"))
    if ((one.dataset.hit ?? one.dataset.line) === key) one.classList.toggle("lit", on);
  for (const one of document.querySelectorAll("svg.ranks")) one.classList.toggle("dimmed", on);
}
for (const [begin, end] of [["mouseover", "mouseout"], ["focusin", "focusout"]]) {
  for (const [name, on] of [[begin, true], [end, false]])
    document.addEventListener(name, (event) => {
      const one = event.target.closest("[data-hit], [data-line]");
      if (one) light(one.dataset.hit ?? one.dataset.line, on);
    });
}
