// What every page loads: htmx with morphing, and our own small behaviours. Pages work without any of it.
import htmx from "htmx.org";
import { Idiomorph } from "idiomorph";

import { busy } from "./busy.js";
import { display } from "./display.js";
import { drafts } from "./drafts.js";
import { keys } from "./keys.js";
import { panes } from "./panes.js";
import { refresh } from "./refresh.js";
import { start } from "./start.js";

// What a reader opened or chose stays so when the server's newer picture arrives.
const KEPT = new Set(["open", "data-show"]);
const morphing = {
  morphStyle: "outerHTML",
  callbacks: { beforeAttributeUpdated: (name) => !KEPT.has(name) },
};

htmx.defineExtension("morph", {
  isInlineSwap: (style) => style === "morph",
  handleSwap: (style, target, fragment) =>
    style === "morph" ? Idiomorph.morph(target, fragment.children, morphing) : false,
});

start();
busy();
display();
drafts();
panes();
keys();
refresh(htmx);
