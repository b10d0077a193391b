/** Mixing colours written as #rrggbb, for what is dimmed without becoming see-through. */

/** `share` of `other` mixed into `colour`, 0 to 1. */
export function mix(colour: string, other: string, share: number): string {
  const [a, b] = [channels(colour), channels(other)];
  const mixed = a.map((value, index) => Math.round(value + ((b[index] as number) - value) * share));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

function channels(colour: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
}
