/** Sends a dropped file to the server, with progress, and opens what it became. */

import { signal } from "@preact/signals";
import { ApiError, address, getSources } from "../api";
import { sourceList } from "../state/recording";
import { words } from "../state/resource";
import { chooseSource } from "./choose";

export interface Upload {
  name: string;
  sent: number;
  total: number;
  error: string | null;
}

/** The upload under way or failed; null when there is none. */
export const upload = signal<Upload | null>(null);
let request: XMLHttpRequest | null = null;

export function cancelUpload(): void {
  request?.abort();
  request = null;
  upload.value = null;
}

/**
 * Uploads files, one after the other, and selects the last. New ones take the place of those
 * under way; the first that fails is the end of it.
 */
export async function uploadFiles(files: readonly File[]): Promise<void> {
  request?.abort();
  let id: string | null = null;
  for (const file of files) {
    upload.value = { name: file.name, sent: 0, total: file.size, error: null };
    try {
      id = await send(file);
    } catch (error) {
      if (upload.peek()) refuseFile(file.name, words(error));
      return;
    }
  }
  if (id === null) return;
  try {
    sourceList.value = await getSources();
    upload.value = null;
    chooseSource(id);
  } catch (error) {
    if (upload.peek()) refuseFile(files.at(-1)?.name ?? "", words(error));
  }
}

/** Says why a file is not taken. */
export function refuseFile(name: string, error: string): void {
  upload.value = { name, sent: 0, total: 0, error };
}

// fetch() cannot tell how much of a body it has sent; XMLHttpRequest can.
function send(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const sending = new XMLHttpRequest();
    request = sending;
    sending.upload.addEventListener("progress", ({ loaded, total }) => {
      if (request === sending) upload.value = { name: file.name, sent: loaded, total, error: null };
    });
    sending.addEventListener("load", () => {
      try {
        resolve(accepted(sending));
      } catch (error) {
        reject(error);
      }
    });
    sending.addEventListener("error", () =>
      reject(new ApiError("TensorBoard did not take the file: the connection broke.", 0)),
    );
    sending.open("POST", address("upload", { name: file.name }));
    sending.setRequestHeader("X-Memory-Upload", "1");
    sending.setRequestHeader("Content-Type", "application/octet-stream");
    sending.send(file);
  });
}

function accepted(sending: XMLHttpRequest): string {
  let answer: { source?: unknown; error?: unknown } = {};
  try {
    answer = JSON.parse(sending.responseText) as typeof answer;
  } catch {
    // Not ours (a proxy with a size limit, say): the status below says what we know.
  }
  if (typeof answer.source === "string") return answer.source;
  const said = typeof answer.error === "string" ? answer.error : null;
  throw new ApiError(said ?? `The server refused the file (${sending.status}).`, sending.status);
}
