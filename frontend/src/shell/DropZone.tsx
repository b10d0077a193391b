/** Files dropped anywhere on the page, or chosen, are sent to the server and opened. */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { cancelUpload, refuseFile, upload, uploadFiles } from "../flow/upload";
import { bytes } from "../format";

const over = signal(false);

/** Opens the browser's own dialog to pick a file. */
export function fileChooser(): void {
  const input = document.createElement("input");
  input.type = "file";
  input.addEventListener("change", () => {
    void uploadFiles([...(input.files ?? [])]);
  });
  input.multiple = true;
  input.click();
}

const hasFiles = (event: DragEvent): boolean =>
  event.dataTransfer?.types.includes("Files") ?? false;

/** The name of a folder among what is dropped: as a file it could not be read. */
function folderIn(dropped: DataTransfer | null): string | null {
  const entries = [...(dropped?.items ?? [])].map((item) => item.webkitGetAsEntry?.() ?? null);
  return entries.find((entry) => entry?.isDirectory)?.name ?? null;
}

function listen(): () => void {
  const drag = (event: DragEvent): void => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    over.value = true;
  };
  const leave = (event: DragEvent): void => {
    // Leaving for a child is not leaving; leaving the window has no target to go to.
    if (event.relatedTarget === null) over.value = false;
  };
  const drop = (event: DragEvent): void => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    over.value = false;
    const folder = folderIn(event.dataTransfer);
    if (folder !== null)
      refuseFile(folder, `${folder} is a folder; drop the files that are in it.`);
    else void uploadFiles([...(event.dataTransfer?.files ?? [])]);
  };
  window.addEventListener("dragover", drag);
  window.addEventListener("dragleave", leave);
  window.addEventListener("drop", drop);
  return () => {
    window.removeEventListener("dragover", drag);
    window.removeEventListener("dragleave", leave);
    window.removeEventListener("drop", drop);
  };
}

export function DropZone() {
  useEffect(listen, []);
  return (
    <>
      {over.value && (
        <div class="dropzone" aria-hidden="true">
          <p>Drop to open it here</p>
        </div>
      )}
      <UploadNote />
    </>
  );
}

function UploadNote() {
  const now = upload.value;
  if (!now) return null;
  return (
    <div class="upload" role="status">
      {now.error ? <p class="danger">{now.error}</p> : <Sending {...now} />}
      <button type="button" class="button" onClick={cancelUpload}>
        {now.error ? "Close" : "Cancel"}
      </button>
    </div>
  );
}

function Sending({ name, sent, total }: { name: string; sent: number; total: number }) {
  const done = total > 0 && sent >= total;
  return (
    <div class="sending">
      <p class="clip" title={name}>
        {done ? `${name} is being placed …` : `Sending ${name}: ${bytes(sent)} of ${bytes(total)}`}
      </p>
      <progress max={total || 1} value={sent} aria-label={`Sending ${name}`} />
    </div>
  );
}
