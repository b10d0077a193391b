/** Door of the API. */
export * from "./client";
export * from "./flame";
export * from "./types";
export { decodeUsage, type Usage } from "./usage";
