/** A canvas made ready for drawing in CSS pixels at the screen's own resolution. */

export interface Surface {
  readonly context: CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;
  readonly width: number;
  readonly height: number;
  /** Device pixels a CSS pixel. */
  readonly ratio: number;
  readonly font: string;
}

/** Sizes and clears `canvas`; null where the browser gives no context. */
export function prepare(canvas: HTMLCanvasElement, width: number, height: number): Surface | null {
  return cleared(canvas, fontOf(canvas), width, height);
}

let scratch: OffscreenCanvas | null = null;

/**
 * Paints a canvas that others move or that stays: it holds an image then, which costs nothing while it
 * is the same. Browsers without a GPU copy every other canvas whenever anything on the page moves.
 */
export function present(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  paint: (surface: Surface) => void,
): void {
  scratch ??= new OffscreenCanvas(1, 1);
  const surface = cleared(scratch, fontOf(canvas), width, height);
  if (surface === null) return;
  paint(surface);
  const image = scratch.transferToImageBitmap();
  if (canvas.width !== image.width) canvas.width = image.width;
  if (canvas.height !== image.height) canvas.height = image.height;
  canvas.getContext("bitmaprenderer")?.transferFromImageBitmap(image);
}

function cleared(
  canvas: HTMLCanvasElement | OffscreenCanvas,
  font: string,
  width: number,
  height: number,
): Surface | null {
  const context = canvas.getContext("2d") as Surface["context"] | null;
  if (context === null || width <= 0 || height <= 0) return null;
  const ratio = window.devicePixelRatio || 1;
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== across) canvas.width = across;
  if (canvas.height !== down) canvas.height = down;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = `11px ${font}`;
  return { context, width, height, ratio, font };
}

const fonts = new WeakMap<HTMLCanvasElement, string>();

/** The font of a canvas, asked for once: that makes the browser work out all styles there and then. */
function fontOf(canvas: HTMLCanvasElement): string {
  const font = fonts.get(canvas) ?? getComputedStyle(canvas).fontFamily;
  if (font !== "") fonts.set(canvas, font);
  return font;
}

/** Widths remembered; beyond, all are forgotten. */
const MOST_WIDTHS = 5000;
const widths = new Map<string, number>();

/** The width of a text as `prepare` sets it, measured once: a pan paints names in every frame. */
export function widthOf({ context, font }: Surface, text: string): number {
  const key = `${font} ${text}`;
  const known = widths.get(key);
  if (known !== undefined) return known;
  if (widths.size >= MOST_WIDTHS) widths.clear();
  const { width } = context.measureText(text);
  widths.set(key, width);
  return width;
}

/** The middle of the device pixel nearest to `value`, so that hairlines are not smeared over two. */
export function crisp(surface: Surface, value: number): number {
  return (Math.round(value * surface.ratio - 0.5) + 0.5) / surface.ratio;
}

/** A straight line one device pixel wide (or `width`). */
export function line(
  surface: Surface,
  from: readonly [number, number],
  to: readonly [number, number],
  colour: string,
  width = 1 / surface.ratio,
): void {
  const { context } = surface;
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(...to);
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.stroke();
}

/** Text on a patch of the background, so that it can be read over anything. */
export function label(
  surface: Surface,
  text: string,
  x: number,
  y: number,
  colour: string,
  background: string,
): void {
  const { context } = surface;
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 4;
  context.strokeStyle = background;
  context.strokeText(text, x, y);
  context.fillStyle = colour;
  context.fillText(text, x, y);
}
