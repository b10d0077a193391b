/** A number that answers first: what it is, the number itself, and what there is to say of it. */

import type { ComponentChildren } from "preact";
import { quantity } from "../format";

interface FactProperties {
  label: string;
  danger?: boolean;
  title: string;
  /** The bytes behind what is shown. */
  exact?: number;
  note?: ComponentChildren;
  children: ComponentChildren;
}

export function Fact({ label, danger, title, exact, note, children }: FactProperties) {
  return (
    <div title={title} class={danger ? "danger" : undefined}>
      <dt>{label}</dt>
      <dd>
        <span class="big" data-exact={label} data-bytes={exact}>
          {children}
        </span>
        {note && <span class="note">{note}</span>}
      </dd>
    </div>
  );
}

/** Bytes, the number and its unit kept on one line. */
export function Size({ value }: { value: number }) {
  const { number, unit } = quantity(value);
  return (
    <>
      {number}&nbsp;{unit}
    </>
  );
}
