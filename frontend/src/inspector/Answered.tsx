/** What is shown of an answer: why there is none, that it is on its way, or what it says. */

import type { ComponentChildren } from "preact";
import type { Answer } from "../state/resource";

interface Properties<T> {
  answer: Answer<T>;
  children: (data: T) => ComponentChildren;
}

export function Answered<T>({ answer: { data, error }, children }: Properties<T>) {
  if (error) {
    return (
      <p class="danger" role="alert">
        {error}
      </p>
    );
  }
  if (!data) return <p class="quiet">Looking it up …</p>;
  return <>{children(data)}</>;
}
