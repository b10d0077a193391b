/** Placeholder until the chart is here. */
export function Timeline() {
  return <div />;
}
