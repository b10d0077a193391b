/** A bar for a part of a whole. */

interface Properties {
  /** 0 … 1 */
  value: number;
  label: string;
  colour?: string;
}

export function Meter({ value, label, colour }: Properties) {
  const percent = Math.max(0, Math.min(1, value)) * 100;
  return (
    <div
      class="meter"
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(percent)}
    >
      <span style={{ width: `${percent}%`, ...(colour ? { background: colour } : {}) }} />
    </div>
  );
}
