/** What keys do on the picture. */

import { KEY_PAN, KEY_ZOOM, keyAcross, restingFocus } from "../timeline/across";
import { panWindow, span, zoomWindow } from "../timeline/scale";
import type { Model } from "./model";
import { spotAt } from "./spots";

/** Does what a key stands for here; false where it stands for nothing. */
export function pressKey(key: string, model: Model): boolean {
  if (keyAcross(key, model.timeline, () => focusOf(model))) return true;
  const [bytes, tall] = [model.bytes.peek(), model.tall.peek()];
  const zoomUp = (factor: number) => {
    const pointed = model.pointer.peek();
    const at = pointed === null ? (bytes.begin + bytes.end) / 2 : spotAt(model, pointed).bytes;
    model.setBytes(zoomWindow(bytes, tall, at, factor));
  };
  const panUp = (share: number) => model.setBytes(panWindow(bytes, tall, share * span(bytes)));
  const does: Readonly<Record<string, () => void>> = {
    arrowup: () => panUp(KEY_PAN),
    arrowdown: () => panUp(-KEY_PAN),
    "+": () => zoomUp(KEY_ZOOM),
    "=": () => zoomUp(KEY_ZOOM),
    "-": () => zoomUp(1 / KEY_ZOOM),
    "0": model.fit,
    m: () => {
      model.measures.value = !model.measures.peek();
    },
  };
  if (key === "Escape" && model.ruler.peek() !== null) {
    model.ruler.value = null;
    return true;
  }
  const action = does[key.toLowerCase()];
  action?.();
  return action !== undefined;
}

/** What keys zoom about: the place under the pointer, else the cursor in view, else the middle. */
function focusOf(model: Model): number {
  const pointed = model.pointer.peek();
  return pointed === null ? restingFocus(model.timeline) : spotAt(model, pointed).at;
}
