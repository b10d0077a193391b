/** What is searched for: asked of the table first, so that half a word breaks no picture. */

import { effect } from "@preact/signals";
import type { Breakdown } from "../../api";
import { getBreakdown } from "../../api";
import { target } from "../../flow/questions";
import type { Model } from "../../lives/model";
import { by, cursor, filter, find } from "../../state";
import { type Answer, resource } from "../../state/resource";

export interface Search {
  readonly answer: { readonly value: Answer<Breakdown> };
  dispose(): void;
}

/** Hits alive at the cursor; once they are known the picture of `model` is asked to show them. */
export function createSearch(model: Model): Search {
  const hits = resource(
    () => {
      if (target.value === null || find.value.trim() === "") return null;
      const at = cursor.value ?? ("peak" as const);
      const asked = { by: by.value, pattern: "", sort: "-bytes", limit: 1 };
      // Of what the picture is made of: the filter that all views share leaves the rest out.
      const both = [filter.value, find.value].filter(Boolean).join(" ");
      return { text: find.value, query: { ...target.value, ...asked, at, filter: both } };
    },
    async ({ text, query }, abort) => ({ text, found: await getBreakdown(query, abort) }),
  );
  const stop = effect(() => {
    const { data, error } = hits.answer.value;
    if (find.value.trim() === "") model.searched.value = "";
    else if (error === null && data?.text === find.value) model.searched.value = find.value;
  });
  return {
    answer: {
      get value() {
        const { data, error, loading } = hits.answer.value;
        return { data: data?.found ?? null, error, loading };
      },
    },
    dispose: () => {
      stop();
      hits.dispose();
    },
  };
}
