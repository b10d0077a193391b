/** Four Arrow streams (by address six), each after its length, turned into a tile. */

import { type Column, type Table, tableFromIPC } from "@uwdata/flechette";
import { streamsOf } from "../api/streams";
import { gapsOf } from "./gaps";
import { NONE_MAPPED, type Tile, type TileAbout } from "./tile";

const HALF = 2 ** 32;

type Integers =
  | Uint8ArrayConstructor
  | Uint16ArrayConstructor
  | Int32ArrayConstructor
  | Float64ArrayConstructor;

/** Whole numbers as doubles, exact below 2⁵³: far quicker than one BigInt after another. */
function wide(values: BigInt64Array): Float64Array {
  const halves = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  const numbers = new Float64Array(values.length);
  for (let at = 0; at < numbers.length; at++) {
    numbers[at] = (halves[2 * at + 1] as number) * HALF + ((halves[2 * at] as number) >>> 0);
  }
  return numbers;
}

function column<T extends Integers>(table: Table, name: string, kind: T): InstanceType<T> {
  const source: Column<unknown> | undefined = table.getChild(name);
  if (!source) return new kind(table.numRows) as InstanceType<T>;
  const values = source.toArray();
  if (values instanceof BigInt64Array) return wide(values) as InstanceType<T>;
  const absent = kind === Float64Array ? Number.NaN : 0;
  const plain = Array.from(values as ArrayLike<unknown>, (value) =>
    value === null ? absent : Number(value),
  );
  // Its own copy: the answer that the values lie in can then be let go.
  return (ArrayBuffer.isView(values) ? new kind(values as never) : kind.from(plain)) as never;
}

/** Decodes the answer's body. Throws if it is not a tile. */
export function decodeTile(body: Uint8Array): Tile {
  const tables = streamsOf(body).map((part) => tableFromIPC(part, { useBigInt: true }));
  const [columns, rows, gaps, merged, mapped, blocks] = tables;
  const described = columns?.schema.metadata?.get("tile");
  if (!columns || !rows || !gaps || !merged || !described) {
    throw new Error("The answer is not a tile of a picture.");
  }
  const big = (table: Table, name: string) => column(table, name, Float64Array);
  const int = (table: Table, name: string) => column(table, name, Int32Array);
  const short = (table: Table, name: string) => column(table, name, Uint16Array);
  const byte = (table: Table, name: string) => column(table, name, Uint8Array);
  return {
    about: JSON.parse(described) as TileAbout,
    columns: {
      length: columns.numRows,
      begin: big(columns, "begin"),
      event: big(columns, "event"),
      time: big(columns, "time"),
      total: big(columns, "total"),
      count: big(columns, "count"),
      base: big(columns, "base"),
    },
    rows: {
      length: rows.numRows,
      allocation: int(rows, "allocation"),
      first: short(rows, "first"),
      last: short(rows, "last"),
      bytes: big(rows, "bytes"),
      band: byte(rows, "band"),
      hit: byte(rows, "hit"),
      offset: big(rows, "offset"),
      lasting: byte(rows, "lasting"),
    },
    gaps: gapsOf({
      length: gaps.numRows,
      slot: int(gaps, "slot"),
      part: int(gaps, "part"),
      band: byte(gaps, "band"),
      hit: byte(gaps, "hit"),
      mixed: byte(gaps, "mixed"),
      column: short(gaps, "column"),
      bytes: big(gaps, "bytes"),
      count: int(gaps, "count"),
    }),
    merged: {
      length: merged.numRows,
      column: short(merged, "column"),
      last: short(merged, merged.getChild("last") ? "last" : "column"),
      band: byte(merged, "band"),
      bytes: big(merged, "bytes"),
      count: int(merged, "count"),
      allocation: int(merged, "allocation"),
      hit: byte(merged, "hit"),
      offset: big(merged, "offset"),
      tall: short(merged, "tall"),
    },
    mapped: mapped
      ? {
          length: mapped.numRows,
          first: short(mapped, "first"),
          last: short(mapped, "last"),
          offset: big(mapped, "offset"),
          size: big(mapped, "size"),
        }
      : NONE_MAPPED,
    blocks: blocks ? big(blocks, "size") : new Float64Array(0),
  };
}
