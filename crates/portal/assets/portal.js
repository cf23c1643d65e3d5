// The portal without this script can be read and used; with it, pages are live, and some things take fewer steps.
"use strict";
document.documentElement.classList.add("js");
const one = (selector, from = document) => from.querySelector(selector);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];
const say = (text) => { const said = one("#said"); if (said) said.textContent = text; };

// Times in the reader's own zone.
function localize(from = document) {
  for (const time of all("time[datetime]", from)) {
    const at = new Date(time.getAttribute("datetime"));
    if (isNaN(at)) continue;
    const text = at.toLocaleString();
    time.title = text;
    if (time.classList.contains("full")) time.textContent = text;
  }
}

// Live: when something that the page shows has changed, its parts are fetched again and put in place.
let isBusy = false, isStale = false, last = 0, waits = 0;
// Not more often than every two seconds, and not all open pages at once.
function changed() {
  if (waits) return;
  waits = setTimeout(() => { waits = 0; refresh(); }, Math.max(0, last + 2000 - Date.now()) + Math.random() * 300);
}
async function refresh() {
  if (isBusy) { isStale = true; return; }
  const active = document.activeElement;
  const isTyping = active && /^(INPUT|SELECT|TEXTAREA)$/.test(active.tagName) && active.closest("#content") && active.type !== "checkbox";
  const isChosen = one("#content input[name=object]:checked");
  if (isTyping || isChosen || one("a.dragging")) { setTimeout(refresh, 2000); return; }
  isBusy = true; last = Date.now();
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" }, cache: "no-store" });
    if (answer.redirected) { location.reload(); return; }
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of all("[data-live-part]")) {
      const other = fresh.getElementById(part.id);
      if (!other || other.innerHTML === part.innerHTML) continue;
      const rows = new Map(all("tr[data-key]", part).map((row) => [row.dataset.key, row.textContent]));
      const open = all("details[open] > summary", part).map((summary) => summary.textContent);
      const focus = active && part.contains(active) ? active.getAttribute("href") || active.name : null;
      part.replaceChildren(...other.childNodes);
      for (const summary of all("details > summary", part)) if (open.includes(summary.textContent)) summary.parentElement.open = true;
      for (const row of all("tr[data-key]", part)) if (rows.size && rows.get(row.dataset.key) !== row.textContent) row.classList.add("changed");
      if (focus) all("a, button, input", part).find((it) => it.getAttribute("href") === focus || it.name === focus)?.focus();
      localize(part); prepare(part);
      say("The page was updated.");
    }
    if (fresh.body.dataset.live && fresh.body.dataset.live !== document.body.dataset.live) document.body.dataset.live = fresh.body.dataset.live;
  } catch { /* The server is away for a moment; the stream reconnects by itself. */ }
  isBusy = false;
  if (isStale) { isStale = false; changed(); }
}
function listen() {
  if (!document.body.dataset.live || !window.EventSource) return;
  const stream = new EventSource(document.body.dataset.live);
  stream.addEventListener("change", changed);
  stream.onerror = () => {
    if (stream.readyState !== EventSource.CLOSED) return;
    setTimeout(async () => { await refresh(); listen(); }, 3000);
  };
  addEventListener("pagehide", () => stream.close(), { once: true });
}

// Keyboard: / searches, Ctrl-K opens the palette, g and a letter goes somewhere.
const palette = one("#palette"), command = one("#command");
let before = "";
function choose(step) {
  const shown = all("#commands li:not([hidden])");
  const at = shown.findIndex((it) => it.getAttribute("aria-selected") === "true");
  shown.forEach((it) => it.setAttribute("aria-selected", "false"));
  const next = shown[(at + step + shown.length) % shown.length] || shown[0];
  if (next) { next.setAttribute("aria-selected", "true"); next.scrollIntoView({ block: "nearest" }); }
}
function narrow() {
  const words = command.value.toLowerCase().split(/\s+/).filter(Boolean);
  let first = true;
  for (const item of all("#commands li")) {
    const text = item.textContent.toLowerCase();
    item.hidden = !words.every((word) => text.includes(word));
    item.setAttribute("aria-selected", String(!item.hidden && first));
    if (!item.hidden) first = false;
  }
}
function openPalette() {
  for (const button of all(".actions a.button, .actions button:not([disabled]):not([hidden])")) {
    if (one(`#commands [data-action="${CSS.escape(button.textContent)}"]`)) continue;
    const item = document.createElement("li"), link = document.createElement("a");
    item.setAttribute("role", "option"); item.dataset.action = button.textContent;
    link.textContent = `Do: ${button.textContent}`; link.href = button.href || "#"; link.tabIndex = -1;
    link.addEventListener("click", (event) => { if (!button.href) { event.preventDefault(); palette.close(); button.click(); } });
    item.append(link); one("#commands").prepend(item);
  }
  command.value = ""; narrow(); palette.showModal(); command.focus();
}
addEventListener("keydown", (event) => {
  const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "checkbox";
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k" && palette) { event.preventDefault(); openPalette(); return; }
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") { event.preventDefault(); one("#q")?.focus(); one("#q")?.select(); }
  if (before === "g") {
    const to = { h: "/ui/", s: "/ui/sites", r: "/ui/o/-/inventory.miloapis.com/racks", n: "/ui/o/-/inventory.miloapis.com/nodes", a: "/ui/activity/-", m: "/ui/map" }[event.key];
    if (to) location.href = to;
  }
  before = event.key;
});
if (palette) {
  command.addEventListener("input", narrow);
  command.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") { event.preventDefault(); choose(1); }
    if (event.key === "ArrowUp") { event.preventDefault(); choose(-1); }
    if (event.key === "Enter") { event.preventDefault(); one("#commands li[aria-selected=true]:not([hidden]) a")?.click(); }
  });
  palette.addEventListener("click", (event) => { if (event.target === palette) palette.close(); });
}

// The time slider: hours before now.
for (const form of all("form.time")) {
  const slider = one("input[type=range]", form), field = one("input[name=asOf]", form);
  const now = new Date(form.dataset.now);
  slider.dir = "rtl";
  const time = () => new Date(now - slider.value * 3600e3).toISOString().replace(/\.\d+Z/, "Z");
  slider.addEventListener("input", () => say(slider.value === "0" ? "Now" : `As of ${new Date(time()).toLocaleString()}`));
  slider.addEventListener("change", () => { field.value = slider.value === "0" ? "" : time(); form.requestSubmit(); });
}

// The editor: what the server says to what is typed.
for (const form of all("form.editor[data-check]")) {
  const text = one("textarea", form), result = one("[data-result]", form);
  let timer = 0, asked = 0;
  text.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const mine = ++asked;
      const answer = await fetch(form.dataset.check, { method: "POST", body: new URLSearchParams(new FormData(form)) });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (mine === asked) result.replaceChildren(...page.body.childNodes);
    }, 400);
  });
}
for (const file of all("input[data-file]")) {
  file.addEventListener("change", async () => { if (file.files[0]) one(`[name=${file.dataset.file}]`, file.form).value = await file.files[0].text(); });
}

// What is in a part of the page that may be replaced.
function prepare(from) {
  const bulk = one(".bulk", from), box = one("input[data-all]", from);
  const mark = () => bulk?.classList.toggle("ready", !!one("input[name=object]:checked"));
  box?.addEventListener("change", () => { all("input[name=object]").forEach((it) => { it.checked = box.checked; }); mark(); });
  all("input[name=object]", from).forEach((it) => it.addEventListener("change", mark));
  for (const drawing of all("svg[data-rack]", from)) drag(drawing);
}

// Dragging a device: the unit under the pointer goes into the form, which makes a plan.
function drag(drawing) {
  const unit = Number(drawing.dataset.unit), units = Number(drawing.dataset.units);
  const unitAt = (event, height) => {
    const seen = drawing.getBoundingClientRect();
    const y = (event.clientY - seen.top) * (units * unit + 2) / seen.height;
    return Math.min(Math.max(units - Math.floor(y / unit) - height + 1, 1), units - height + 1);
  };
  for (const device of all("a[data-device]", drawing)) {
    device.setAttribute("draggable", "false");
    device.addEventListener("dragstart", (event) => event.preventDefault());
    device.addEventListener("pointerdown", (down) => {
      if (down.button !== 0) return;
      const height = Number(device.dataset.height);
      let ghost = null, target = null;
      const move = (event) => {
        if (!ghost && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < 6) return;
        target = document.elementsFromPoint(event.clientX, event.clientY).map((it) => it.closest?.("svg[data-rack]")).find(Boolean) || drawing;
        device.classList.add("dragging");
        const at = unitAt(event, height);
        ghost ??= document.createElementNS("http://www.w3.org/2000/svg", "rect");
        const bay = one(".bay", target);
        for (const [name, value] of Object.entries({ class: "ghost", x: bay.getAttribute("x"), width: bay.getAttribute("width"), y: (units - at - height + 1) * unit + 1, height: height * unit, rx: 2 })) ghost.setAttribute(name, value);
        target.append(ghost);
        ghost.dataset.at = at;
      };
      const up = () => {
        removeEventListener("pointermove", move);
        device.classList.remove("dragging");
        if (!ghost) return;
        ghost.remove();
        device.addEventListener("click", (event) => event.preventDefault(), { once: true });
        const form = one("#move");
        form.elements.device.value = device.dataset.device;
        form.elements.rack.value = target.dataset.rack;
        form.elements.unit.value = ghost.dataset.at;
        form.elements.face.value = target === drawing ? "" : target.dataset.face;
        if (ghost.dataset.at !== device.dataset.start || target !== drawing) form.requestSubmit();
      };
      addEventListener("pointermove", move);
      addEventListener("pointerup", up, { once: true });
    });
  }
}

const menu = one("#menu");
if (menu && matchMedia("(max-width: 800px)").matches) menu.open = false;
for (const button of all("[data-print]")) { button.hidden = false; button.addEventListener("click", () => print()); }
addEventListener("click", (event) => { for (const open of all("details.pop[open]")) if (!open.contains(event.target)) open.open = false; });
addEventListener("keydown", (event) => { if (event.key === "Escape") for (const open of all("details.pop[open]")) { open.open = false; one("summary", open).focus(); } });
localize(); prepare(document); listen();
