/** Tiles of the picture of lives as they come, for the worker that decodes them. */

import { call } from "./client";
import { during } from "./underway";

/** The body of the answer at an address of the plugin; fails as all calls do. */
export async function getBytes(url: string, signal: AbortSignal): Promise<ArrayBuffer> {
  const answer = async (): Promise<ArrayBuffer> => (await call(url, { signal })).arrayBuffer();
  return during(answer());
}
