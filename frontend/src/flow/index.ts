/** Starts everything that moves by itself: polling, opening, links, TensorBoard's reload. */

import { effect } from "@preact/signals";
import { visible } from "../state/visible";
import { followHosts, rereadHosts } from "./hosts";
import { connect } from "./ipc";
import { followLink } from "./linking";
import { followSource, reopen } from "./opening";
import { followPairs } from "./pairs";
import { followPlan } from "./plans";
import { pollSources, refreshSources } from "./sources";

export function startFlow(frame: Window): () => void {
  const host = connect(frame);
  let missed = false;
  const reload = (): void => {
    if (visible.peek()) {
      refreshSources();
      reopen();
      rereadHosts();
    } else missed = true;
  };
  host?.listen("experimental.DataReloaded", reload);
  const ends = [
    followLink(frame, host),
    pollSources(),
    followSource(),
    followHosts(),
    followPlan(),
    followPairs(),
    effect(() => {
      if (!visible.value || !missed) return;
      missed = false;
      queueMicrotask(reload);
    }),
  ];
  return () => {
    for (const end of ends) end();
  };
}
