/** The Settings view: how it was recorded, with what, what the recording lacks and why. */

import { sentence } from "../../format";
import { summary } from "../../state/recording";
import { type Section, sections } from "./facts";
import "./settings.css";

export function Settings() {
  const known = summary.value;
  if (!known) return null;
  return (
    <div class="settings">
      {sections(known).map((section) => (
        <Facts key={section.title} {...section} />
      ))}
      <section aria-labelledby="settings-missing">
        <h2 id="settings-missing">What it lacks</h2>
        {known.missing.length === 0 && <p class="quiet">Nothing that the page could show.</p>}
        <ul>
          {known.missing.map(({ what, why, remedy }) => (
            <li key={what}>
              <strong>{what}</strong>: {sentence(why)}
              {remedy && <span class="remedy"> {sentence(remedy)}</span>}
            </li>
          ))}
        </ul>
      </section>
      <section aria-labelledby="settings-problems">
        <h2 id="settings-problems">Problems</h2>
        {known.problems.length === 0 && <p class="quiet">None was found in the file.</p>}
        <ul>
          {known.problems.map((problem) => (
            <li key={problem} class="warning">
              {problem}
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

function Facts({ title, rows, nothing }: Section) {
  const id = `settings-${title.toLowerCase().replace(/\W+/g, "-")}`;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {rows.length === 0 && <p class="quiet">{nothing}</p>}
      <dl>
        {rows.map(({ word, value }) => (
          <div key={word}>
            <dt>{word}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
