/** Names of spans and their kinds as people read them. */

const PYTHON = /^(?:.*[/\\])?([^/\\(]+\.py)\((\d+)\): (.+)$/;

/** A kernel as its compiler names it, with arguments of templates and of the call. */
const KERNEL =
  /^(?:void |[a-z_ ]+ )?((?:(?:[\w$]+|\(anonymous[^)]*\))::)*~?[\w$]+)<.*>\s*\(.*\)(?: \[.*\])?$/s;

/**
 * `forward · model.py:12` of a call of Python with its whole path, `at::native::fill_kernel<…>` of an
 * instance of a template; other names as they are.
 */
export function shortName(name: string): string {
  const call = PYTHON.exec(name);
  if (call !== null) return `${call[3]} · ${call[1]}:${call[2]}`;
  const kernel = KERNEL.exec(name);
  return kernel === null ? name : `${kernel[1]}<…>`;
}

const KINDS: Readonly<Record<string, string>> = {
  hlo_module: "HLO module",
  python: "Python",
  runtime: "runtime call",
};

export const kindWord = (kind: string | null): string =>
  kind === null ? "span" : (KINDS[kind] ?? kind);
