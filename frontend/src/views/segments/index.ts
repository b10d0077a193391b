/** The Segments view: what the allocator holds at any event, and every event. */

import { registerView } from "../registry";
import { Segments } from "./Segments";

registerView({ key: "segments", label: "Segments", order: 30, component: Segments, of: "device" });
