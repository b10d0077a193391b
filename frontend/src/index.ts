/** The module that TensorBoard loads into the plugin's frame; it calls `render()` once. */

import { start } from "./shell/start";

export async function render(): Promise<void> {
  await start(window);
}
