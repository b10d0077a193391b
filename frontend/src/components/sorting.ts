/** How a table is sorted: a column's name, with `-` in front of it falling. */

/** A click on a header: turns the present column round, or starts another, rising or falling. */
export function nextSort(now: string, column: string, rises: boolean): string {
  if (now.replace(/^-/, "") === column) return now.startsWith("-") ? column : `-${column}`;
  return rises ? column : `-${column}`;
}

export function ariaSort(now: string, column: string): "ascending" | "descending" | "none" {
  if (now.replace(/^-/, "") !== column) return "none";
  return now.startsWith("-") ? "descending" : "ascending";
}
