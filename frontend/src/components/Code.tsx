/** Code to copy. */

import { useState } from "preact/hooks";

/** Where the clipboard is denied (plain http), the code is selected for the reader to copy. */
async function copy(text: string, element: HTMLElement | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    if (element) window.getSelection()?.selectAllChildren(element);
    return false;
  }
}

export function Code({ text, label }: { text: string; label: string }) {
  const [said, setSaid] = useState("Copy");
  const onCopy = async (event: MouseEvent): Promise<void> => {
    const holder = (event.currentTarget as HTMLElement).parentElement?.querySelector("code");
    setSaid((await copy(text, holder ?? null)) ? "Copied" : "Press Ctrl+C");
    setTimeout(() => setSaid("Copy"), 2000);
  };
  return (
    <div class="code">
      <pre>
        <code>{text}</code>
      </pre>
      <button type="button" class="button" aria-label={`Copy ${label}`} onClick={onCopy}>
        {said}
      </button>
    </div>
  );
}
