/** Answers of several Arrow streams, each after its length as a little-endian uint32. */

/** Splits the body of an answer into its streams. Throws if it ends before they do. */
export function streamsOf(body: Uint8Array): Uint8Array[] {
  const lengths = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const streams: Uint8Array[] = [];
  let place = 0;
  while (place < body.length) {
    const begin = place + 4;
    const end = begin <= body.length ? begin + lengths.getUint32(place, true) : begin;
    if (end > body.length) throw new Error("The answer arrived cut off.");
    // A copy begins at an address that its integers may be read from as they are.
    streams.push(body.slice(begin, end));
    place = end;
  }
  return streams;
}
