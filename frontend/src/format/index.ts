/** Door of the formats: numbers become words here and nowhere else. */
export * from "./bytes";
export * from "./count";
export * from "./spans";
export * from "./time";
export * from "./words";
