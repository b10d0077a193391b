/** The code around a line, where the server shows it; otherwise, in words, why not. */

import { useEffect, useMemo } from "preact/hooks";
import { getCode } from "../../api";
import { target } from "../../flow/questions";
import { resource } from "../../state/resource";

export function Code({ file, line }: { file: string; line: number }) {
  const { answer, dispose } = useMemo(
    () =>
      resource(() => {
        const known = target.value;
        return known && { source: known.source, version: known.version, file, line };
      }, getCode),
    [file, line],
  );
  useEffect(() => dispose, [dispose]);
  const { data, error } = answer.value;
  return (
    <tr class="code-row">
      <td colSpan={5}>
        {error && <p class="quiet">{error}</p>}
        {!error && !data && <p class="quiet">Reading …</p>}
        {data && !error && (
          <>
            {data.changed && (
              <p class="quiet">
                The file was written to after the recording began: lines may have moved.
              </p>
            )}
            <pre class="source-code">
              {data.lines.map((text, index) => {
                const number = data.first + index;
                return (
                  <div key={number} class={number === line ? "here" : ""}>
                    <span class="line-number">{number}</span>
                    {text || " "}
                  </div>
                );
              })}
            </pre>
          </>
        )}
      </td>
    </tr>
  );
}
