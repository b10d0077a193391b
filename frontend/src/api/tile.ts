/** Tiles of the picture of lives as they come, for the worker that decodes them. */

import { call } from "./client";

/** The body of the answer at an address of the plugin; fails as all calls do. */
export async function getBytes(url: string, signal: AbortSignal): Promise<ArrayBuffer> {
  return (await call(url, { signal })).arrayBuffer();
}
