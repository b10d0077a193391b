/** One file of the table: its total, and under it its lines; those of libraries are folded at first. */

import type { LineSums, SourceFile, SourceLine, SourceLines, Unit } from "../../api";
import { ShareBar } from "../../components/ShareBar";
import { count, share } from "../../format";
import { fileName } from "../../inspector/folding";
import { filter } from "../../state/view";
import { dark } from "../../theme/theme";
import { CODE } from "../../weighing/colours";
import { withTerm } from "../../weighing/phrase";
import { exactWeight, weight } from "../../weighing/words";
import { Code } from "./Code";
import { lineTerm, type Model, markOf, whyNoCode } from "./model";

interface Properties {
  model: Model;
  file: SourceFile;
  answer: SourceLines;
}

export function File({ model, file, answer }: Properties) {
  const name = file.file || "no file";
  // Own files are open until folded, those of libraries folded until opened.
  const open = model.open.value.has(name) !== !file.library;
  const mark = markOf(file, file.file);
  return (
    <tbody>
      <tr class={mark ? "file holds" : "file"}>
        <td title={name}>
          <button
            type="button"
            class="plain"
            aria-expanded={open}
            onClick={() => model.toggle(name)}
          >
            {open ? "▾" : "▸"} <strong>{fileName(name)}</strong>
          </button>{" "}
          <span class="quiet folder">{folderOf(name)}</span>
          {mark && <span class="unseen">, {mark}</span>}
        </td>
        <Sums sums={file} answer={answer} library={file.library} />
      </tr>
      {open &&
        file.lines.map((line) => (
          <Line key={line.line} model={model} file={file} line={line} answer={answer} />
        ))}
    </tbody>
  );
}

const folderOf = (path: string): string => path.slice(0, -fileName(path).length);

function Line({ model, file, line, answer }: Properties & { line: SourceLine }) {
  const name = file.file ?? "";
  const key = `${name}:${line.line}`;
  const placed = line.line !== null && line.line > 0;
  const open = model.open.value.has(key);
  const isShown = whyNoCode() === null;
  const mark = markOf(line, file.file, line.line);
  return (
    <>
      <tr class={mark ? "holds" : undefined}>
        <td class="line" title={[line.function, mark].filter(Boolean).join("\n")}>
          {placed && name !== "" && isShown ? (
            <button
              type="button"
              class="link"
              aria-expanded={open}
              title="Show the code"
              onClick={() => model.toggle(key)}
            >
              {line.line}
            </button>
          ) : (
            <span class="quiet">{placed ? line.line : "–"}</span>
          )}{" "}
          <span class="clip">{line.function ?? "?"}</span>{" "}
          {mark && <span class="unseen">, {mark}</span>}
          {name !== "" && (
            <button
              type="button"
              class="link deed"
              title="Leave out, in all views, what does not have this line in its stack"
              onClick={() => {
                filter.value = withTerm(filter.value, lineTerm(name, line.line));
              }}
            >
              filter
            </button>
          )}
        </td>
        <Sums sums={line} answer={answer} library={file.library} />
      </tr>
      {open && placed && isShown && <Code file={name} line={line.line ?? 0} />}
    </>
  );
}

/** Exactly what went through, and how much of that is of the picked group. */
function throughWords({ through, picked }: LineSums, unit: Unit): string {
  const all = exactWeight(through, unit);
  return picked ? `${all}, of which ${exactWeight(picked, unit)} of the picked group` : all;
}

function Sums(properties: { sums: LineSums; answer: SourceLines; library: boolean }) {
  const { sums, answer, library } = properties;
  const { unit, total } = answer;
  const shade = CODE[dark.value ? "dark" : "light"];
  return (
    <>
      <td class="number" title={exactWeight(sums.made, unit)}>
        {sums.made > 0 ? weight(sums.made, unit) : "–"}
      </td>
      <td>
        {sums.made > 0 && (
          <ShareBar
            part={sums.made}
            whole={total}
            colour={library ? shade.library : shade.own}
            words={share(sums.made, total)}
          />
        )}
      </td>
      <td class="number" title={throughWords(sums, unit)}>
        {weight(sums.through, unit)}
      </td>
      {unit !== "allocations" && (
        <td class="number">{sums.made_count > 0 ? count(sums.made_count) : "–"}</td>
      )}
    </>
  );
}
