// The YAML editor over <textarea data-editor>. The textarea stays the form's field: both always hold the same text.
import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";

import { texts } from "./texts.js";

// Colours are the page's tokens, so light and dark follow the page and keep its contrast.
const look = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--raised)", fontSize: "0.875rem" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5", overflow: "auto" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { color: "var(--quiet)", backgroundColor: "var(--raised)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--accent) 7%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 28%, transparent)",
  },
  ".cm-selectionMatch": { backgroundColor: "color-mix(in srgb, var(--wait) 22%, transparent)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "color-mix(in srgb, var(--good) 25%, transparent)" },
  ".cm-searchMatch": { backgroundColor: "color-mix(in srgb, var(--wait) 30%, transparent)" },
  ".cm-panels": { color: "var(--text)", backgroundColor: "var(--sunk)" },
  ".cm-panels-bottom": { borderTop: "1px solid var(--line)" },
  ".cm-textfield": { color: "var(--text)", backgroundColor: "var(--raised)", border: "1px solid var(--edge)" },
  ".cm-button": { color: "var(--text)", backgroundImage: "none", backgroundColor: "var(--raised)", border: "1px solid var(--edge)" },
  ".cm-tooltip": { color: "var(--text)", backgroundColor: "var(--raised)", border: "1px solid var(--line)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--bad) 1px" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "2.2em" },
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword, tags.atom], color: "var(--evict)" },
  { tag: [tags.comment, tags.lineComment], color: "var(--quiet)", fontStyle: "italic" },
  { tag: [tags.meta, tags.typeName, tags.labelName], color: "var(--wait)" },
]);

function edit(field) {
  const nonce = document.querySelector("script[nonce]")?.nonce ?? "";
  let echo = false;
  const label = field.getAttribute("aria-label") ?? field.labels[0]?.textContent?.trim() ?? "";
  const view = new EditorView({
    state: EditorState.create({
      doc: field.value,
      extensions: [
        EditorView.cspNonce.of(nonce),
        lineNumbers(),
        highlightActiveLineGutter(),
        highlightSpecialChars(),
        history(),
        drawSelection(),
        indentOnInput(),
        indentUnit.of("  "),
        EditorState.tabSize.of(2),
        bracketMatching(),
        closeBrackets(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        search(),
        lintGutter(),
        yaml(),
        syntaxHighlighting(colours),
        look,
        readOnly.of(EditorState.readOnly.of(field.readOnly)),
        EditorView.contentAttributes.of({ "aria-label": `${label}. ${texts.editor}`, spellcheck: "false", tabindex: "0" }),
        // Ctrl-Enter belongs to the page; the rest of the usual keys to the editor.
        keymap.of([
          ...closeBracketsKeymap,
          ...defaultKeymap.filter(({ key }) => key !== "Mod-Enter"),
          ...searchKeymap,
          ...historyKeymap,
          indentWithTab,
        ]),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged || echo) return;
          field.value = update.state.doc.toString();
          field.dispatchEvent(new Event("input", { bubbles: true }));
        }),
      ],
    }),
  });
  field.addEventListener("lab:text", () => {
    echo = true;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: field.value } });
    echo = false;
  });
  field.hidden = true;
  field.after(view.dom);
  if (field.autofocus) view.focus();
  return view;
}

const readOnly = new Compartment();

// Problems that the server found stand in a list [data-problems] as items with data-line and data-column.
function mark(view, list) {
  const { doc } = view.state;
  const found = [];
  for (const item of list?.querySelectorAll("[data-line]") ?? []) {
    const number = Number(item.dataset.line);
    if (!(number >= 1)) continue;
    const line = doc.line(Math.min(number, doc.lines));
    const column = Math.max(0, Number(item.dataset.column) - 1 || 0);
    const from = Math.min(line.from + column, line.to);
    const to = Math.max(from, line.to);
    found.push({ from: from === to ? line.from : from, to, severity: "error", message: item.dataset.message });
  }
  found.sort((one, other) => one.from - other.from);
  view.dispatch(setDiagnostics(view.state, found));
}

function go(view, link) {
  const line = view.state.doc.line(Math.min(Math.max(1, Number(link.dataset.goLine)), view.state.doc.lines));
  const at = Math.min(line.from + Math.max(0, Number(link.dataset.goColumn) - 1 || 0), line.to);
  view.dispatch({ selection: { anchor: at }, scrollIntoView: true });
  view.focus();
}

for (const field of document.querySelectorAll("textarea[data-editor]")) {
  const view = edit(field);
  const list = () => document.querySelector(field.dataset.problems || "[data-problems]");
  mark(view, list());
  document.body.addEventListener("htmx:afterSettle", () => mark(view, list()));
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("[data-go-line]");
    if (!link) return;
    event.preventDefault();
    go(view, link);
  });
}
