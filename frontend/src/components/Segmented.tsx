/** A choice of one of a few, all in sight; arrow keys move it as in a radio group. */

interface Option<K extends string> {
  key: K;
  label: string;
  /** Why it cannot be chosen; null if it can. */
  reason: string | null;
  /** What it means, where its label is too short to say. */
  title?: string;
}

interface Properties<K extends string> {
  label: string;
  options: readonly Option<K>[];
  value: K;
  choose: (key: K) => void;
}

export function Segmented<K extends string>({ label, options, value, choose }: Properties<K>) {
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    const open = options.filter(({ reason }) => reason === null);
    const at = open.findIndex(({ key }) => key === value);
    const next = open[(at + step + open.length) % open.length];
    event.preventDefault();
    event.stopPropagation();
    if (!next) return;
    choose(next.key);
    const target = (event.currentTarget as HTMLElement).querySelector(`[data-key="${next.key}"]`);
    (target as HTMLElement | null)?.focus();
  };
  return (
    <div class="segmented" role="radiogroup" aria-label={label} onKeyDown={onKeyDown}>
      {options.map(({ key, label: text, reason, title }) => (
        <button
          key={key}
          type="button"
          role="radio"
          data-key={key}
          aria-checked={key === value}
          tabIndex={key === value ? 0 : -1}
          disabled={reason !== null}
          title={reason ?? title}
          onClick={() => choose(key)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}
