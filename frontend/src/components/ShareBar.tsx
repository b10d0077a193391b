/** A share as a bar and a number. */

interface Properties {
  part: number;
  whole: number;
  colour: string;
  words: string;
}

export function ShareBar({ part, whole, colour, words }: Properties) {
  const width = whole > 0 ? (100 * part) / whole : 0;
  return (
    <span class="share">
      <span class="bar" aria-hidden="true" style={{ "--share": width / 100, background: colour }} />
      <span class="percent">{words}</span>
    </span>
  );
}
