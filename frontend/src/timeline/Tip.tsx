/** A box of words beside the pointer, on the side where there is room. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { besidePointer } from "./fitting";

interface TipProps {
  /** Pixels in the box that holds it, and that box's width. `above`: y is from its bottom up. */
  x: number;
  y: number;
  within: number;
  above?: boolean;
  testId: string;
  children: ComponentChildren;
}

export function Tip({ x, y, within, above, testId, children }: TipProps) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => setWidth(box.current?.offsetWidth ?? 0));
  const left = besidePointer(x, width, within);
  return (
    <div
      class="timeline-tooltip"
      ref={box}
      style={{ left: `${left}px`, [above ? "bottom" : "top"]: `${y}px` }}
      data-testid={testId}
    >
      {children}
    </div>
  );
}
