/** What the routes of the plugin answer (docs/architecture.md, "HTTP"). Bytes and times are integers. */

export * from "./allocations";
export * from "./lists";
export * from "./recordings";
export * from "./timeline";
