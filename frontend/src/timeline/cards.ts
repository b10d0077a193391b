/** Cards of allocations that the pointer rests on, and the life of one that is only named there. */

import { getAllocation } from "../api";
import { pointAt } from "../state/pointed";
import { isPlan } from "../state/recording";
import { lookUp } from "./resting";

export const cardOf = lookUp(({ source, version, device }, id, abort) =>
  // Ids of a plan are numbers of their own.
  getAllocation(source, version, id, abort, isPlan.peek() ? { device } : {}),
);

let callOff: (() => void) | undefined;

/** Points at the buffer of a plan that has this id, once the pointer rests; null: at none. */
export function pointAtId(id: string | null): void {
  callOff?.();
  callOff = cardOf(id, (card) => pointAt(card ?? undefined));
}

/** Listeners of what names a buffer; nothing where it has none. */
export const pointingAt = (id: string | undefined) =>
  id === undefined
    ? {}
    : { onPointerEnter: () => pointAtId(id), onPointerLeave: () => pointAtId(null) };
