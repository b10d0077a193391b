/** Bytes as people write them, read. */

const POWERS: Readonly<Record<string, number>> = { "": 0, k: 1, m: 2, g: 3, t: 4 };

/** `10 MiB`, `1.5g`, `512` → bytes (units are powers of 1024); null for what is not understood. */
export function parseBytes(text: string): number | null {
  const found = /^\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*$/i.exec(text);
  if (found === null) return null;
  const power = POWERS[(found[2] ?? "").toLowerCase()] ?? 0;
  return Math.round(Number(found[1]) * 1024 ** power);
}
