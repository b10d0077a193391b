/** The Trace view: what the program did beside memory, on one axis of time. */

import { registerView } from "../registry";
import { Trace } from "./Trace";

registerView({
  key: "trace",
  label: "Trace",
  order: 10,
  component: Trace,
  of: "device",
  axis: "time",
});
