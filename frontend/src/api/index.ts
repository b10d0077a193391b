/** Door of the API. */
export * from "./client";
export * from "./types";
export { decodeUsage, type Usage } from "./usage";
