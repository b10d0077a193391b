/** Door of the API. */
export * from "./client";
export * from "./flame";
export * from "./pairs";
export * from "./plan";
export {
  type BlockRows,
  decodePools,
  decodeSegments,
  type Measure,
  type PoolSums,
  type Pools,
  type SegmentRows,
  type SegmentState,
  type StateAbout,
} from "./segments";
export * from "./trace";
export * from "./types";
export * from "./underway";
export { AREA, decodeUsage, type Usage } from "./usage";
