/** Cards of allocations that the pointer rests on. */

import { getAllocation } from "../../api";
import { lookUp } from "../../timeline/resting";

export const cardOf = lookUp(({ source, version }, id, abort) =>
  getAllocation(source, version, id, abort),
);
