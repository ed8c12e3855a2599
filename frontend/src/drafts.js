// Nothing typed is lost: each text field marked data-draft is kept in this browser until it was sent and accepted.
import { remember, remembered, texts } from "./texts.js";

export function drafts() {
  for (const field of document.querySelectorAll("textarea[data-draft]")) keep(field);
}

function keep(field) {
  const key = `draft:${field.dataset.draft}`;
  const fromServer = field.defaultValue;
  let sent = field.dataset.sent === undefined ? fromServer : field.dataset.sent;
  let timer;

  const state = field.form.querySelector("[data-state]");
  const mark = () => {
    if (state) state.textContent = same(field.value, sent) ? "" : `● ${texts.not_sent}`;
  };
  const save = () => remember(key, same(field.value, sent) ? null : field.value);

  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(save, 300);
    mark();
  });
  addEventListener("pagehide", save);
  document.addEventListener("visibilitychange", save);

  const draft = remembered(key);
  // What the server shows after a refused form is what was typed last; the draft is older then.
  if (draft !== null && !same(draft, fromServer) && field.dataset.sent === undefined) offer(field, draft, fromServer);

  // The server says in data-accepted that it took the text as it stood when the request left.
  let leaving = field.value;
  document.body.addEventListener("htmx:beforeSend", ({ detail }) => {
    if (detail.elt.form === field.form) leaving = field.value;
  });
  document.body.addEventListener("htmx:afterSettle", () => {
    const accepted = document.querySelector("[data-accepted]");
    if (!accepted) return;
    accepted.removeAttribute("data-accepted");
    sent = leaving;
    save();
    mark();
  });
  mark();
}

function offer(field, draft, fromServer) {
  field.value = draft;
  const note = document.createElement("p");
  note.className = "draft";
  note.append(texts.restored, " ");
  const back = document.createElement("button");
  back.type = "button";
  back.className = "plain";
  back.textContent = texts.use_sent;
  back.addEventListener("click", () => {
    field.value = fromServer;
    field.dispatchEvent(new CustomEvent("lab:text"));
    field.dispatchEvent(new Event("input"));
    note.remove();
  });
  note.append(back);
  (field.closest(".edit") ?? field).before(note);
}

function same(one, other) {
  return one.replaceAll("\r\n", "\n") === other.replaceAll("\r\n", "\n");
}
