/** What spans are linked by, and what a source says of one, in words. */

const WAYS: Readonly<Record<string, readonly [from: string, to: string]>> = {
  launch: ["launched by", "launched"],
  forward_backward: ["its forward:", "its backward:"],
  async: ["started by", "done in"],
  collective: ["collective launched by", "launched the collective"],
};

export function linkWord(kind: string, way: "from" | "to"): string {
  const [from, to] = WAYS[kind] ?? [`${kind} from`, `${kind} to`];
  return way === "from" ? from : to;
}

/** Characters of an argument; its title has all of it. */
const MOST = 240;

/** A value as people write shapes and lists: `[8, 128], [128, 64]`. */
export function argumentText(value: unknown): string {
  const text = Array.isArray(value)
    ? value.map(inner).join(", ")
    : typeof value === "object" && value !== null
      ? inner(value)
      : String(value);
  return text.length > MOST ? `${text.slice(0, MOST)}…` : text;
}

function inner(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inner).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    return Object.entries(value)
      .map(([word, each]) => `${word}: ${inner(each)}`)
      .join(", ");
  }
  return value === "" ? "–" : String(value);
}
