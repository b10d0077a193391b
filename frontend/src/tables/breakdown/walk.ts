/** Arrow keys in a tree-like table: up and down between rows, left and right fold and unfold. */

const rowsOf = (table: HTMLElement): HTMLElement[] => [
  ...table.querySelectorAll<HTMLElement>("tr[data-row]"),
];

/** Moves the focus, and with it the one row that Tab comes back to. */
function focus(rows: HTMLElement[], row: HTMLElement | undefined): void {
  if (!row) return;
  for (const other of rows) other.tabIndex = other === row ? 0 : -1;
  row.focus();
}

const fold = (row: HTMLElement): HTMLElement | null => row.querySelector("[data-fold]");

export function walk(event: KeyboardEvent): void {
  const table = event.currentTarget as HTMLElement;
  const row = (event.target as HTMLElement).closest<HTMLElement>("tr[data-row]");
  if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target !== row && !["ArrowUp", "ArrowDown"].includes(event.key)) return;
  const rows = rowsOf(table);
  const at = rows.indexOf(row);
  const open = row.getAttribute("aria-expanded");
  const actions: Record<string, () => void> = {
    ArrowDown: () => focus(rows, rows[at + 1]),
    ArrowUp: () => focus(rows, rows[at - 1]),
    Home: () => focus(rows, rows[0]),
    End: () => focus(rows, rows[rows.length - 1]),
    Enter: () => row.click(),
    " ": () => row.click(),
    ArrowRight: () => (open === "false" ? fold(row)?.click() : focus(rows, rows[at + 1])),
    ArrowLeft: () => (open === "true" ? fold(row)?.click() : focus(rows, parent(rows, at))),
  };
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  event.stopPropagation();
  action();
}

/** The group that a single allocation stands under; the row itself if it is a group. */
function parent(rows: HTMLElement[], at: number): HTMLElement | undefined {
  for (let index = at; index >= 0; index -= 1) {
    if (rows[index]?.getAttribute("aria-level") === "1") return rows[index];
  }
  return undefined;
}
