// A bar for a request that takes over 100 ms; after 2 s a sentence and a way to stop it. Failures that bring no page
// (no connection, stopped) are said where the answer would have stood.
import { texts } from "./texts.js";

export function busy() {
  const bar = document.getElementById("busy");
  const text = bar.querySelector("[data-busy-text]");
  const stop = document.createElement("button");
  stop.type = "button";
  stop.textContent = texts.stop;
  const running = new Set();
  let timers = [];

  function start(request) {
    running.add(request);
    if (running.size > 1) return;
    timers = [
      setTimeout(() => (bar.hidden = false), 100),
      setTimeout(() => {
        bar.classList.add("long");
        text.textContent = texts.working;
        bar.append(stop);
      }, 2000),
    ];
  }

  function end(request) {
    running.delete(request);
    if (running.size) return;
    timers.forEach(clearTimeout);
    bar.hidden = true;
    bar.classList.remove("long");
    text.textContent = "";
    stop.remove();
  }

  stop.addEventListener("click", () => {
    for (const request of running) request.abort();
  });

  function say(target, sentence) {
    const notice = document.createElement("div");
    notice.className = "notice bad";
    notice.setAttribute("role", "alert");
    notice.textContent = sentence;
    target.replaceChildren(notice);
  }

  document.body.addEventListener("htmx:beforeSend", ({ detail }) => {
    if (detail.requestConfig.headers["X-Quiet"]) return;
    start(detail.xhr);
    for (const button of buttons(detail.elt)) button.setAttribute("aria-disabled", "true");
  });
  document.body.addEventListener("htmx:afterRequest", ({ detail }) => {
    end(detail.xhr);
    for (const button of buttons(detail.elt)) button.removeAttribute("aria-disabled");
  });
  document.body.addEventListener("htmx:sendError", ({ detail }) => {
    if (!detail.requestConfig.headers["X-Quiet"]) say(detail.target, texts.offline);
  });
  document.body.addEventListener("htmx:sendAbort", ({ detail }) => {
    if (!detail.requestConfig.headers["X-Quiet"]) say(detail.target, texts.stopped);
  });
}

function buttons(element) {
  return element.form ? [...element.form.elements].filter((control) => control.type === "submit") : [];
}
