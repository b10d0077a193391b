/** The page around the views: sidebar, top bar, inspector, and what lies over them. */

import { useEffect } from "preact/hooks";
import { underway } from "../api";
import { Inspector } from "../inspector/Inspector";
import { lost, sourceList, summary } from "../state/recording";
import { shownView } from "../views/registry";
import { DropZone } from "./DropZone";
import { drawer } from "./drawer";
import { Help } from "./Help";
import { onKey } from "./keyboard";
import { Sidebar } from "./Sidebar";
import { Stage } from "./Stage";
import { TopBar } from "./TopBar";

function listen(): () => void {
  window.addEventListener("keydown", onKey);
  return () => window.removeEventListener("keydown", onKey);
}

export function Shell() {
  useEffect(listen, []);
  const empty = sourceList.value?.sources.length === 0;
  return (
    <div class={`shell ${empty ? "bare" : ""}`} data-underway={underway}>
      {!empty && <Sidebar />}
      {drawer.value && (
        <div class="shade" onClick={() => (drawer.value = false)} aria-hidden="true" />
      )}
      {!empty && <TopBar />}
      <div class="content">
        <main class="stage">
          {lost.value && (
            <p class="banner" role="alert">
              {lost.value}
            </p>
          )}
          <Stage />
        </main>
        {summary.value && <Inspector view={shownView.value?.key ?? ""} />}
      </div>
      <DropZone />
      <Help />
    </div>
  );
}
