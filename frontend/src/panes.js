// Panes of the workplace: which one a phone shows, how wide each is, which view of the cluster is open.
import { remember, remembered } from "./texts.js";

export function panes() {
  const root = document.querySelector(".panes");
  if (!root) return;
  phone(root);
  for (const splitter of document.querySelectorAll(".splitter")) split(root, splitter);
  views();
}

function phone(root) {
  const buttons = document.querySelectorAll(".panetabs button");
  const show = (name) => {
    root.dataset.pane = name;
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.value === name));
  };
  for (const button of buttons) button.addEventListener("click", () => show(button.value));
  root.addEventListener("lab:pane", (event) => show(event.target.id.replace("pane-", "")));
  // A verdict stands with the task: on a phone that pane comes up when it arrives.
  document.body.addEventListener("htmx:afterSettle", () => {
    const arrived = document.querySelector(".verdict[data-arrived]");
    if (!arrived) return;
    arrived.removeAttribute("data-arrived");
    arrived.classList.add("arrived");
    show("task");
    arrived.scrollIntoView({ block: "nearest" });
  });
  show("task");
}

const LIMITS = { min: 15, max: 80, step: 2 };

// A splitter moves by pointer and arrows; Enter and a double click fold its pane and bring it back.
function split(root, splitter) {
  const { property, axis, pane } = splitter.dataset;
  const sizes = `split:${property}`;
  const folds = `fold:${property}`;
  let size = Number(remembered(sizes)) || Number(splitter.dataset.initial);
  let folded = remembered(folds) === "yes";

  const draw = () => {
    root.style.setProperty(property, folded ? "0%" : `${size}%`);
    document.getElementById(pane).classList.toggle("folded", folded);
    splitter.setAttribute("aria-valuenow", folded ? "0" : String(Math.round(size)));
  };
  const resize = (percent) => {
    size = Math.min(LIMITS.max, Math.max(LIMITS.min, percent));
    folded = false;
    remember(sizes, String(size));
    remember(folds, null);
    draw();
  };
  const fold = () => {
    folded = !folded;
    remember(folds, folded ? "yes" : null);
    draw();
  };

  splitter.addEventListener("pointerdown", (event) => {
    splitter.setPointerCapture(event.pointerId);
    event.preventDefault();
    splitter.focus();
  });
  splitter.addEventListener("pointermove", (event) => {
    if (!splitter.hasPointerCapture(event.pointerId)) return;
    const box = root.getBoundingClientRect();
    const part = axis === "x" ? (event.clientX - box.left) / box.width : (box.bottom - event.clientY) / box.height;
    resize(part * 100);
  });
  splitter.addEventListener("dblclick", fold);
  splitter.addEventListener("keydown", (event) => {
    const moves = axis === "x" ? { ArrowLeft: -1, ArrowRight: 1 } : { ArrowUp: 1, ArrowDown: -1 };
    if (event.key in moves) resize(size + moves[event.key] * LIMITS.step);
    else if (event.key === "Home") resize(LIMITS.min);
    else if (event.key === "End") resize(LIMITS.max);
    else if (event.key === "Enter") fold();
    else return;
    event.preventDefault();
  });
  draw();
}

// The hash names the open view, so that a link, reload and back keep it.
function views() {
  const tabs = [...document.querySelectorAll(".views [role=tab]")];
  const cluster = () => document.getElementById("cluster");
  const show = (name) => {
    if (!cluster() || !tabs.some((tab) => tab.value === name)) return;
    cluster().dataset.show = name;
    for (const tab of tabs) {
      tab.setAttribute("aria-selected", String(tab.value === name));
      tab.tabIndex = tab.value === name ? 0 : -1;
    }
  };
  const open = (name) => {
    show(name);
    history.replaceState(history.state, "", `#${name}`);
  };
  for (const tab of tabs) {
    tab.addEventListener("click", () => open(tab.value));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
      open(next.value);
      next.focus();
    });
  }
  addEventListener("hashchange", () => show(location.hash.slice(1)));
  show(location.hash.slice(1));
}
