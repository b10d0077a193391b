/** Door of the state: one place for everything that more than one part of the page knows. */

export { converter } from "./axis";
export { argument } from "./grouping";
export * from "./recording";
export * from "./view";
export { visible } from "./visible";
