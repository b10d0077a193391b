/** ↑, ↓, Home and End move the focus among the buttons of a list. */

export function walk(event: KeyboardEvent): void {
  const list = event.currentTarget as HTMLElement;
  const buttons = [...list.querySelectorAll("button")];
  const here = buttons.indexOf(document.activeElement as HTMLButtonElement);
  const to = { ArrowUp: here - 1, ArrowDown: here + 1, Home: 0, End: buttons.length - 1 }[
    event.key
  ];
  if (here < 0 || to === undefined) return;
  event.preventDefault();
  buttons[to]?.focus();
}
