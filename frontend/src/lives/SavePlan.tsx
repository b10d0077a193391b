/** The plan as a drawing to keep: what the server makes as SVG, painted here where it is to be PNG. */

import { signal } from "@preact/signals";
import { drawingFile } from "../api";
import { target } from "../flow/questions";
import { argument } from "../state/grouping";
import { shownPlan } from "../state/recording";
import { words } from "../state/resource";
import { by } from "../state/view";
import { TOP } from "../timeline/load";
import "./savePlan.css";

const failure = signal<string | null>(null);

export function SavePlan() {
  const asked = target.value;
  const plan = shownPlan.value?.overview;
  if (!asked || !plan) return null;
  const name = `${plan.module}-${plan.program}-${plan.space}`;
  const file = drawingFile({ ...asked, by: by.value, pattern: argument.value, top: TOP });
  return (
    <span class="plan-save">
      <span class="quiet">drawing</span>
      <a
        class="button"
        href={file}
        download={`${name}.svg`}
        title="Lives and places, coloured as here, as SVG"
      >
        ⤓ SVG
      </a>
      <button
        type="button"
        class="button"
        title="Lives and places, coloured as here, as PNG"
        onClick={() => void savePng(file, `${name}.png`)}
      >
        ⤓ PNG
      </button>
      {failure.value !== null && <span class="danger">{failure.value}</span>}
    </span>
  );
}

/** Twice as fine as the drawing is large. */
const SCALE = 2;

async function savePng(file: string, name: string): Promise<void> {
  try {
    failure.value = null;
    const drawn = await painted(await (await fetch(file)).text());
    const link = document.createElement("a");
    link.href = URL.createObjectURL(drawn);
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  } catch (error) {
    failure.value = words(error);
  }
}

async function painted(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.naturalWidth * SCALE;
  canvas.height = image.naturalHeight * SCALE;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  const made = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
  if (!made) throw new Error("The browser could not paint the drawing.");
  return made;
}
